internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// Lists of addresses as JSON answers write them.
enum AddressText {
    /// An array of addresses of one family; missing, null and empty are no addresses.
    ///
    /// - Parameter member: what to call the list in messages.
    static func list(
        _ value: JSONValue?, _ family: IPAddress.Family, named member: String
    ) -> FamilyAnswer {
        var answer = FamilyAnswer()
        do throws(QueryFailure) {
            for address in try addresses(value, named: member) {
                guard address.family == family else {
                    throw .malformed("\(member) has \(address), an address of the other family")
                }
                answer.addresses.append(address)
            }
        } catch {
            answer.fault = error
        }
        return answer
    }

    /// An array in which both families stand mixed.
    static func mixed(
        _ value: JSONValue?, named member: String
    ) throws(QueryFailure) -> (ipv4: FamilyAnswer, ipv6: FamilyAnswer) {
        var both = (ipv4: FamilyAnswer(), ipv6: FamilyAnswer())
        for address in try addresses(value, named: member) {
            switch address.family {
            case .ipv4: both.ipv4.addresses.append(address)
            case .ipv6: both.ipv6.addresses.append(address)
            }
        }
        return both
    }

    static func addresses(
        _ value: JSONValue?, named member: String
    ) throws(QueryFailure) -> [IPAddress] {
        guard let value, !value.isNull else { return [] }
        guard let texts = value.array else {
            throw .malformed("\(member) is \(value.kind), not an array")
        }
        var addresses: [IPAddress] = []
        addresses.reserveCapacity(texts.count)
        for (index, text) in texts.enumerated() {
            guard let address = text.string.flatMap({ try? IPAddress($0) }), address.zone == nil
            else {
                throw .malformed(
                    "\(member)[\(index)] is \(ServerText.shown(text.description)), not an address")
            }
            addresses.append(address)
        }
        return addresses
    }

    /// A `ttl` member, where there is one.
    static func statedSeconds(_ value: JSONValue?) throws(QueryFailure) -> UInt32? {
        guard let value, !value.isNull else { return nil }
        return try AnswerLifetime.seconds(json: value)
    }
}

/// Bodies as JSON, with the code that a service refuses by.
enum JSONBody {
    /// Any body of a 2xx response; one of any status whose `code` says why it is a refusal.
    static func value(
        of response: HTTPDNSResponse
    ) throws(QueryFailure) -> JSONValue {
        do {
            return try JSONValue.parse(response.body)
        } catch {
            guard response.isSuccess else { throw .httpStatus(response.status) }
            throw response.malformed(error.description)
        }
    }

    static func object(
        of response: HTTPDNSResponse
    ) throws(QueryFailure) -> JSONObject {
        let value = try value(of: response)
        guard let object = value.object else {
            guard response.isSuccess else { throw .httpStatus(response.status) }
            throw response.malformed("a JSON object was expected, not \(value.kind)")
        }
        return object
    }

    /// A code is shown to people and kept in statistics, so it must look like one.
    static func checked(code: String) throws(QueryFailure) -> String {
        guard (1...64).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .malformed("the error code is \(ServerText.shown(code))") }
        return code
    }
}

extension Secret {
    /// True when it has no text: neither a key nor a reason to go without one.
    var isEmpty: Bool { revealed.isEmpty }
}

/// Digests, with failures as back-ends tell them.
enum Signing {
    static func perform<Value>(
        _ make: () throws(any Error) -> Value
    ) throws(QueryFailure) -> Value {
        do { return try make() } catch {
            throw .misconfigured("the request cannot be signed or encrypted: \(error)")
        }
    }
}

/// Ciphertext as text, as services write it.
enum CipherText {
    /// Hexadecimal of either case, white space ignored.
    static func hex(_ octets: [UInt8]) -> [UInt8]? { Hex.decoded(solid(octets)) }

    /// Base64 with line breaks, with or without padding.
    static func base64(_ octets: some Sequence<UInt8>) -> [UInt8]? {
        var text = solid(Array(octets))
        while text.hasSuffix("=") { text.removeLast() }
        while text.utf8.count % 4 != 0 { text += "=" }
        return text.isEmpty ? nil : Base64.decoded(text)
    }

    private static func solid(_ octets: [UInt8]) -> String {
        String(
            decoding: octets.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }, as: UTF8.self)
    }
}
