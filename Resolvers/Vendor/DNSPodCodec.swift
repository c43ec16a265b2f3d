package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// Tencent / DNSPod HTTPDNS, one name a request: `/d?dn=…&ttl=1`, answered in plain text.
///
/// The body, with what the service leaves out now and then in brackets:
///
///     answer  = [ name [ "." ] ":" ] ( list / list "-" list ) [ "|" client-address ]
///     list    = addresses [ "," ttl ]          a "-" parts IPv4 from IPv6
///     addresses = address *( ";" address ) [ ";" ] / "0" / name
///
/// An empty body, `0` and the name itself mean: no address. Several lines answer several names; ours
/// is looked for. Source: cloud.tencent.com/document/product/379 and the vendor's SDKs.
package struct DNSPodCodec: HTTPDNSCodec {
    private let path: String
    private let token: Secret?

    /// - Parameters:
    ///   - path: `/d` for the vendor's own servers; may have a query.
    ///   - token: the number that the enterprise service wants over HTTPS.
    /// - Throws: ``QueryFailure/misconfigured(_:)``.
    package init(path: String = "/d", token: Secret? = nil) throws(QueryFailure) {
        guard token?.revealed.isEmpty != true else {
            throw .misconfigured("the DNSPod token is empty: give it, or leave it out")
        }
        self.path = path.isEmpty || path == "/" ? "/d" : path
        self.token = token
    }

    package var supportedTypes: Set<RecordType>? { [.a, .aaaa] }
    package var answerTransport: AnswerTransport { .httpdns }
    package var sendsSecret: Bool { token != nil }

    package func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        var query = QueryString()
        query.append("dn", question.name.text)
        if let token { query.append("token", token.revealed) }
        query.append("ttl", "1")
        query.append("clientip", "1")
        switch question.type {
        case .a: break
        case .aaaa: query.append("type", "aaaa")
        default: throw .unsupportedType(question.type)
        }
        return HTTPDNSRequest(target: query.appended(to: path), accept: "text/plain, */*;q=0.1")
    }

    package func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        guard let family = question.type.addressFamily else {
            throw .unsupportedType(question.type)
        }
        guard response.isSuccess else { throw .httpStatus(response.status) }
        guard response.body.count <= Self.maximumOctets,
            response.body.allSatisfy({ $0 < 0x80 && $0 != 0 })
        else { throw response.malformed("the body is not a line of ASCII text") }
        let text = String(decoding: response.body, as: UTF8.self)
        let answer: DNSPodAnswer
        do throws(QueryFailure) {
            answer = try DNSPodAnswer(text, to: question.name, family, response)
        } catch {
            // The error would quote it.
            guard !repeatsToken(text) else {
                throw .malformed("the body is not an answer; it repeats what we sent")
            }
            throw error
        }
        var source = source
        source.clientAddress = answer.clientAddress
        let name = WireName(question.name)
        let records = answer.addresses.map { address in
            ResourceRecord(
                name: name, type: question.type, ttlSeconds: answer.lifetimeSeconds,
                data: .address(address))
        }
        return Testimony(question: question, code: .noError, answers: records, source: source)
    }

    /// Login pages and debugging proxies send requests back, and with them the token.
    private func repeatsToken(_ text: String) -> Bool {
        guard let token = token?.revealed else { return false }
        return [token, QueryString.encoded(token)].contains { text.contains($0) }
    }

    /// Because: 4 096 addresses of 15 octets, more than a DNS message holds.
    static let maximumOctets = 65_536
}

extension RecordType {
    /// The family that an address type holds; nil for every other type.
    var addressFamily: IPAddress.Family? {
        switch self {
        case .a: .ipv4
        case .aaaa: .ipv6
        default: nil
        }
    }
}

/// The body of a response, read for one name and family.
private struct DNSPodAnswer {
    private(set) var addresses: [IPAddress] = []
    private(set) var lifetimeSeconds = AnswerLifetime.defaultSeconds
    private(set) var clientAddress: IPAddress?
    private let name: HostName
    private let family: IPAddress.Family
    private let response: HTTPDNSResponse

    init(
        _ text: String, to name: HostName, _ family: IPAddress.Family, _ response: HTTPDNSResponse
    ) throws(QueryFailure) {
        self.name = name
        self.family = family
        self.response = response
        let lines = text.split(whereSeparator: \.isNewline).map(Self.trimmed)
            .filter { !$0.isEmpty }
        guard !lines.isEmpty else { return }
        for line in lines {
            guard let answer = try ours(line) else { continue }
            try read(answer)
            return
        }
        throw response.malformed("no line of the answer is about \(name)")
    }

    /// The line without its name; nil when it is about another name.
    private func ours(_ line: Substring) throws(QueryFailure) -> Substring? {
        guard let colon = Self.nameEnd(in: line) else { return line }
        guard let named = try? HostName(String(line[..<colon])) else {
            throw response.malformed("the line \(ServerText.shown(String(line))) names no host")
        }
        return named == name ? line[line.index(after: colon)...] : nil
    }

    /// The colon behind a name, told from those of an IPv6 address: it follows a dot, or a name that
    /// has a letter beyond `f` and so is no group.
    private static func nameEnd(in line: Substring) -> Substring.Index? {
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
        let before = line[..<colon]
        if before.contains(where: { ",;|".contains($0) }) { return nil }
        let isGroup = before.utf8.count <= 4 && before.allSatisfy(\.isHexDigit)
        return isGroup ? nil : colon
    }

    private mutating func read(_ answer: Substring) throws(QueryFailure) {
        let parts = answer.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw malformed(answer) }
        if parts.count == 2 {
            clientAddress = try? IPAddress(String(Self.trimmed(parts[1])))
        }
        let lists = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false)
        switch lists.count {
        case 1: try keep(read(list: lists[0], family))
        // A host name may hold hyphens: the form "the name itself" comes before "two lists".
        case _ where isOurName(parts.first ?? ""): return
        case 2:
            let both = (try read(list: lists[0], .ipv4), try read(list: lists[1], .ipv6))
            keep(family == .ipv4 ? both.0 : both.1)
        default: throw malformed(answer)
        }
    }

    private typealias AddressList = (addresses: [IPAddress], lifetimeSeconds: UInt32)

    private mutating func keep(_ list: AddressList) {
        addresses = list.addresses
        lifetimeSeconds = list.lifetimeSeconds
    }

    private func read(
        list: Substring, _ family: IPAddress.Family
    ) throws(QueryFailure) -> AddressList {
        let parts = list.split(separator: ",", omittingEmptySubsequences: false)
            .map(Self.trimmed)
        guard (1...2).contains(parts.count) else { throw malformed(list) }
        var lifetimeSeconds = AnswerLifetime.defaultSeconds
        if parts.count == 2, !parts[1].isEmpty {
            guard let seconds = AnswerLifetime.seconds(digits: parts[1]) else {
                throw malformed(list)
            }
            lifetimeSeconds = seconds
        }
        let words = parts[0].split(separator: ";").map(Self.trimmed)
        if words == ["0"] || (words.count == 1 && isOurName(words[0])) {
            return ([], lifetimeSeconds)
        }
        var addresses: [IPAddress] = []
        for word in words {
            guard let address = try? IPAddress(String(word)), address.family == family,
                address.zone == nil
            else { throw malformed(list) }
            addresses.append(address)
        }
        return (addresses, lifetimeSeconds)
    }

    private func isOurName(_ text: Substring) -> Bool {
        (try? HostName(String(text))) == name
    }

    private func malformed(_ text: Substring) -> QueryFailure {
        response.malformed(
            "\(ServerText.shown(String(text))) is not a list of addresses of its family")
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
