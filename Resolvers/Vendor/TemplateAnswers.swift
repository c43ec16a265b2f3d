internal import HTTPDNSDigest
internal import HTTPDNSJSON
package import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSProfiles
internal import HTTPDNSWire

// Reading what a template describes
extension TemplateCodec {
    package func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        do throws(QueryFailure) {
            let response = try opened(response)
            if template.response.form == .dnsJSON {
                try refuseByCode(response)
                return try JSONDoHCodec.testimony(inJSON: response, for: question, source: source)
            }
            return try answers(in: response, to: [question])
                .testimony(for: question, isAlone: true, source: source)
        } catch {
            throw unquoted(error, response)
        }
    }

    /// The failure without what the response repeats of our credentials: login pages, debugging proxies
    /// and services themselves send requests back, and errors quote them.
    private func unquoted(_ failure: QueryFailure, _ response: HTTPDNSResponse) -> QueryFailure {
        let secrets = [credentials.key, credentials.secret].compactMap { $0?.revealed }
            .filter { !$0.isEmpty }
        func repeats(_ text: String) -> Bool {
            secrets.contains { text.contains($0) || text.contains(QueryString.encoded($0)) }
        }
        switch failure {
        case .rejected(let code) where repeats(code):
            return .malformed("its error code repeats what we sent")
        case .malformed(let what)
        where repeats(what) || repeats(String(decoding: response.body, as: UTF8.self))
            || repeats(response.contentType ?? ""):
            return .malformed("the body is not an answer; it repeats what we sent")
        default: return failure
        }
    }

    package func testimonies(
        from response: HTTPDNSResponse, for questions: [Question], source: Testimony.Source
    ) -> [Result<Testimony, QueryFailure>] {
        let answers: AddressAnswers
        do throws(QueryFailure) {
            guard template.response.form != .dnsJSON else {
                return try questions.map { question throws(QueryFailure) in
                    .success(try testimony(from: response, for: question, source: source))
                }
            }
            answers = try self.answers(in: try opened(response), to: questions)
        } catch {
            return questions.map { _ in .failure(unquoted(error, response)) }
        }
        let isAlone = Set(questions.map(\.name)).count == 1
        return questions.map { question in
            do throws(QueryFailure) {
                return .success(
                    try answers.testimony(for: question, isAlone: isAlone, source: source))
            } catch {
                return .failure(unquoted(error, response))
            }
        }
    }

    package func isLegible(_ response: HTTPDNSResponse) -> Bool {
        guard let opened = try? opened(response) else { return false }
        return template.response.form == .text
            ? DNSPodCodec.isLine(opened.body) : (try? JSONValue.parse(opened.body)) != nil
    }

    /// The response with its body in clear. A refusal is never encrypted: it is read as it is.
    private func opened(_ response: HTTPDNSResponse) throws(QueryFailure) -> HTTPDNSResponse {
        guard let responseCipher else { return response }
        let plain: [UInt8]
        do throws(CipherError) { plain = try responseCipher.opened(response.body) } catch {
            try refuseByCode(response)
            guard response.isSuccess else { throw .httpStatus(response.status) }
            throw response.malformed("the answer: \(error)")
        }
        return HTTPDNSResponse(
            status: response.status, contentType: response.contentType, body: plain,
            retryAfter: response.retryAfter)
    }

    private func answers(
        in response: HTTPDNSResponse, to questions: [Question]
    ) throws(QueryFailure) -> AddressAnswers {
        switch template.response.form {
        case .json, .dnsJSON: return try mapped(response)
        case .addresses:
            try refuseByCode(response)
            guard response.isSuccess else { throw .httpStatus(response.status) }
            let value = try JSONBody.value(of: response)
            guard value.array != nil else {
                throw response.malformed("an array of addresses was expected, not \(value.kind)")
            }
            var answers = AddressAnswers()
            answers.add(try Self.answer(value, named: "the answer", seconds: nil), for: nil)
            return answers
        case .text:
            try refuseByCode(response)
            guard response.isSuccess else { throw .httpStatus(response.status) }
            return try line(response)
        }
    }

    private static func answer(
        _ addresses: JSONValue?, named member: String, seconds: UInt32?
    ) throws(QueryFailure) -> NamedAnswer {
        let both = try AddressText.mixed(addresses, named: member)
        var answer = NamedAnswer()
        answer.seconds = seconds
        answer.ipv4 = both.ipv4
        answer.ipv6 = both.ipv6
        answer.ipv4?.seconds = seconds
        answer.ipv6?.seconds = seconds
        return answer
    }

    /// Throws the refusal that the body's code means; nothing when there is none.
    private func refuseByCode(_ response: HTTPDNSResponse) throws(QueryFailure) {
        guard template.response.code != nil,
            let body = try? JSONValue.parse(response.body)
        else { return }
        try refuse(byCodeIn: body)
    }

    private func refuse(byCodeIn body: JSONValue) throws(QueryFailure) {
        guard let rule = template.response.code, let value = body[rule.path], !value.isNull else {
            return
        }
        let text = value.string ?? value.description
        guard !rule.success.contains(text) else { return }
        throw .rejected(code: try JSONBody.checked(code: rule.meanings[text] ?? text))
    }
}

// JSON, by paths
extension TemplateCodec {
    private func mapped(_ response: HTTPDNSResponse) throws(QueryFailure) -> AddressAnswers {
        let rule = template.response
        let body = try JSONBody.value(of: response)
        try refuse(byCodeIn: body)
        guard response.isSuccess else { throw .httpStatus(response.status) }
        var answers = AddressAnswers()
        answers.clientAddress = address(rule.clientAddress, in: body)
        if rule.emptyIsNoData, body.object?.members.isEmpty == true {
            answers.add(NamedAnswer(), for: nil)
            return answers
        }
        guard let found = body[rule.entries] else {
            throw response.malformed("\(rule.entries.text) is missing")
        }
        for (name, entry) in try entries(found, response, &answers) {
            answers.clientAddress =
                answers.clientAddress ?? address(rule.clientAddress, in: entry)
            answers.add(for: name) { () throws(QueryFailure) in try answer(of: entry, response) }
        }
        return answers
    }

    /// The entries that say whose they are, or need not.
    private func entries(
        _ found: JSONValue, _ response: HTTPDNSResponse, _ answers: inout AddressAnswers
    ) throws(QueryFailure) -> [(HostName?, JSONValue)] {
        let rule = template.response
        if rule.isKeyedByName {
            guard let object = found.object else {
                throw response.malformed("\(rule.entries.text) is \(found.kind), not an object")
            }
            return object.members.compactMap { member in
                guard let name = try? HostName(member.name) else {
                    answers.skip(
                        .malformed("\(ServerText.shown(member.name)) is no host name"))
                    return nil
                }
                return (name, member.value)
            }
        }
        guard found.array != nil || found.object != nil else {
            throw response.malformed("the answer is \(found.kind), not an object")
        }
        return (found.array ?? [found]).compactMap { entry in
            guard let path = rule.name, let value = entry[path], !value.isNull else {
                return (nil, entry)
            }
            guard let name = value.string.flatMap({ try? HostName($0) }) else {
                answers.skip(
                    .malformed(
                        "it answers for \(ServerText.shown(value.description)), no host name"))
                return nil
            }
            return (name, entry)
        }
    }

    private func answer(
        of entry: JSONValue, _ response: HTTPDNSResponse
    ) throws(QueryFailure) -> NamedAnswer {
        let rule = template.response
        guard entry.object != nil else {
            throw response.malformed("an entry is \(entry.kind), not an object")
        }
        let lists = rule.addresses.filter { entry[$0] != nil }
        let isNamed = rule.isKeyedByName || rule.name.map { entry[$0] != nil } ?? false
        guard !lists.isEmpty || isNamed else {
            throw response.malformed("an entry has no \(rule.addresses[0].text)")
        }
        let seconds = try AddressText.statedSeconds(rule.seconds.flatMap { entry[$0] })
        guard !lists.isEmpty else {
            var answer = NamedAnswer()
            answer.seconds = seconds
            return answer
        }
        var all: [JSONValue] = []
        for path in lists {
            guard let value = entry[path], !value.isNull else { continue }
            guard let array = value.array else {
                throw response.malformed("\(path.text) is \(value.kind), not an array")
            }
            all += array
        }
        return try Self.answer(
            .array(all), named: rule.addresses[0].text, seconds: seconds)
    }

    private func address(_ path: ProviderTemplate.Path?, in value: JSONValue) -> IPAddress? {
        path.flatMap { value[$0]?.string }.flatMap { try? IPAddress($0) }
    }
}

extension JSONValue {
    /// The value at the end of a path; nil when a member is missing.
    fileprivate subscript(path: ProviderTemplate.Path) -> JSONValue? {
        var value = self
        for member in path.members {
            guard let next = value[member] else { return nil }
            value = next
        }
        return value
    }
}

// Text, by separators
extension TemplateCodec {
    /// `address,address;ttl|client`; nothing and `0` are no addresses.
    private func line(_ response: HTTPDNSResponse) throws(QueryFailure) -> AddressAnswers {
        guard let separators = template.response.separators,
            response.body.count <= DNSPodCodec.maximumOctets,
            response.body.allSatisfy({ $0 < 0x80 && $0 != 0 })
        else { throw response.malformed("the body is not a line of ASCII text") }
        var rest = Self.trimmed(String(decoding: response.body, as: UTF8.self))
        var answers = AddressAnswers()
        if let client = Self.cut(&rest, at: separators.client) {
            answers.clientAddress = try? IPAddress(client)
        }
        // A separator at the very end parts nothing.
        if let separator = separators.seconds?.first {
            while rest.last == separator { rest = Self.trimmed(String(rest.dropLast())) }
        }
        var seconds: UInt32?
        if let text = Self.cut(&rest, at: separators.seconds), !text.isEmpty {
            guard let stated = AnswerLifetime.seconds(digits: text) else {
                throw response.malformed("the lifetime is \(ServerText.shown(text))")
            }
            seconds = stated
        }
        let words = rest.split(Character(separators.addresses)).map(Self.trimmed)
            .filter { !$0.isEmpty && $0 != "0" }
        answers.add(
            try Self.answer(
                .array(words.map { .string($0) }), named: "the list", seconds: seconds),
            for: nil)
        return answers
    }

    /// Takes off what stands behind the last separator; nil when there is none.
    private static func cut(_ text: inout String, at separator: String?) -> String? {
        guard let separator = separator?.first, let place = text.lastIndex(of: separator) else {
            return nil
        }
        let behind = trimmed(String(text[text.index(after: place)...]))
        text = String(text[..<place])
        return behind
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
