internal import HTTPDNSNames
internal import HTTPDNSWire

// DNS messages over HTTP: `/dns-query`. Source: RFC 8484.
extension ServiceExchange {
    mutating func message() throws(LabRefusal) -> LabResponse {
        let octets: [UInt8]
        switch request.method {
        case "POST":
            guard request.value(of: "Content-Type") == Self.media else { throw .wrongMedia }
            octets = request.body
        case "GET":
            guard let decoded = Base64.urlDecoded(try required("dns")) else {
                throw .missingArgument
            }
            octets = decoded
        default: throw .wrongMethod
        }
        guard octets.count <= 65_535 else { throw .tooLong }
        guard let query = LabQuery(octets, isTCP: true) else { throw .missingArgument }
        event.names = [query.question.text]
        hear(client: query.clientSubnet)
        return messageResponse(query, table.answer(query.question))
    }

    /// The answer as a message to a question that came otherwise.
    func wireAnswer(
        _ question: LabQuestion, _ answer: LabAnswer
    ) throws(LabRefusal) -> LabResponse {
        // A query of one question: number 0, recursion desired. Source: RFC 1035 §4.1.
        var octets: [UInt8] = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in question.name.labels {
            octets += [UInt8(truncatingIfNeeded: label.count)] + label
        }
        octets += [0, UInt8(question.type.rawValue >> 8), UInt8(question.type.rawValue & 0xFF)]
        guard let query = LabQuery(octets + [0, 1], isTCP: true) else { throw .broken }
        return messageResponse(query, answer)
    }

    private func messageResponse(_ query: LabQuery, _ answer: LabAnswer) -> LabResponse {
        var answer = answer
        for case .ttl(let kind) in faults {
            let seconds: UInt32? =
                switch kind {
                case .zero: 0
                case .negative: .max
                case .huge: 0x8000_0000
                case .text: nil
                }
            guard let seconds else { continue }
            answer.answers = answer.answers.map { $0.lasting(seconds) }
            answer.authorities = answer.authorities.map { $0.lasting(seconds) }
        }
        var fields = [LabField("Content-Type", Self.media)]
        let lifetimes = (answer.answers + answer.authorities).map(\.ttlSeconds)
        // Freshness ends with the first record. Source: RFC 8484 §5.1.
        if !faults.contains(.leavesOutTTL), let least = lifetimes.min() {
            fields.append(LabField("Cache-Control", "max-age=\(least)"))
        }
        let reply = query.replies(answer).first ?? []
        return LabResponse(fields: fields, body: query.padded(reply))
    }

    private static let media = "application/dns-message"
}

extension ResourceRecord {
    fileprivate func lasting(_ seconds: UInt32) -> ResourceRecord {
        ResourceRecord(
            name: name, type: type, recordClass: recordClass, ttlSeconds: seconds, data: data)
    }
}
