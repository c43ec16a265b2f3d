package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// What one resolver said about one name, all types together. Pure.
package struct LookupReport: Sendable {
    /// The answer to one type, or why there is none.
    package struct Part: Sendable {
        package let type: RecordType
        package let result: Result<LookupAnswer, LookupTrouble>

        package init(type: RecordType, result: Result<LookupAnswer, LookupTrouble>) {
            self.type = type
            self.result = result
        }
    }

    package let subject: LookupSubject
    package let source: LookupSourceFacts
    /// In the order of the types asked for; empty where the name is none.
    package let parts: [Part]
    package let milliseconds: Double
    /// Whether addresses of both kinds were asked for because no type was named: then one kind is
    /// enough.
    package let asksForAddresses: Bool
    /// The name that was asked for; another than the subject's where a search list made it.
    package var effectiveName: HostName?

    package init(
        subject: LookupSubject, source: LookupSourceFacts, parts: [Part], milliseconds: Double,
        asksForAddresses: Bool
    ) {
        self.subject = subject
        self.source = source
        self.parts = parts
        self.milliseconds = milliseconds
        self.asksForAddresses = asksForAddresses
    }
}

/// What is known of a source before it answers.
package struct LookupSourceFacts: Sendable, Hashable {
    package let label: String
    /// The word of the JSON: `udp`, `https`; nil for a chain.
    package let transport: String?
    /// `192.0.2.1:53` where that is certain before asking.
    package var server: String?
    package var isAuthenticated = false
    /// By label: what the configuration file calls them.
    package var names: [String: String] = [:]

    /// How a resolver is shown to people.
    package func shown(_ label: String) -> String { names[label] ?? label }

    package init(label: String, transport: String?, server: String? = nil) {
        self.label = label
        self.transport = transport
        self.server = server
    }
}

/// Why there is no answer, in the words of the tool.
package struct LookupTrouble: Error, Sendable, Hashable {
    /// One of ``LookupTrouble/codes``.
    package let label: String
    package let message: String
    package let code: ExitCode
    /// Sends over the network; nil where that is not known.
    package var tries: Int?
    /// The system's word, where the network said no.
    package var refusal: String?

    package init(label: String, message: String, code: ExitCode, tries: Int? = nil) {
        self.label = label
        self.message = message
        self.code = code
        self.tries = tries
    }

    package init(_ failure: QueryFailure) {
        label = failure.label
        message = LookupTrouble.message(failure)
        code = LookupTrouble.exitCode(failure.label)
        switch failure {
        case .timedOut(let tries): self.tries = tries
        case .unreachable(let why): refusal = why
        case .misconfigured, .unsupportedType: tries = 0
        default: break
        }
    }

    package init(_ failure: LookupFailure) {
        label = failure.label
        if case .cancelled = failure {
            message = LookupTrouble.message(.cancelled)
        } else {
            message = failure.description
        }
        code = LookupTrouble.exitCode(failure.label)
    }

    package init(_ error: NameError) {
        self.init(label: "invalid_name", message: "\(error)", code: .usage)
    }

    package init(_ fault: CommandFault) {
        let label =
            switch fault.code {
            case .usage: "usage"
            case .noReply: "unreachable"
            case .interrupted: "cancelled"
            case .succeeded, .negative, .serverFailure: "unexpected"
            }
        self.init(label: label, message: fault.message, code: fault.code)
    }

    /// The command was told to end before it asked.
    static let notAsked = LookupTrouble(
        label: "cancelled", message: "interrupted before it was asked", code: .interrupted, tries: 0
    )

    package var isInterruption: Bool { code == .interrupted }

    init(answered code: ResponseCode) {
        self.init(
            label: "server_failure", message: "the server answered \(code.name)",
            code: .serverFailure)
    }

    private static func message(_ failure: QueryFailure) -> String {
        switch failure {
        case .cancelled: "interrupted before there was an answer"
        case .httpStatus(511), .httpStatus(300...399):
            // Source: RFC 6585 §6 for 511; a portal without it redirects to its page.
            failure.description
                + ": a log-in page of this network (captive portal) may be answering"
        default: failure.description
        }
    }

    /// Every `error.code`, with its meaning and exit code: help prints them.
    package static let codes: [(label: String, meaning: String, code: ExitCode)] = [
        ("timed_out", "no reply in time", .noReply),
        ("unreachable", "the network or the system says no", .noReply),
        ("resting", "not asked: it failed several times before", .noReply),
        ("exhausted", "every source of the chain failed", .noReply),
        ("server_failure", "SERVFAIL, REFUSED and the like; status says which", .serverFailure),
        ("malformed", "the reply is not what the protocol allows", .serverFailure),
        ("http_status", "the HTTP status is not a success", .serverFailure),
        ("rejected", "the provider refused the request", .serverFailure),
        ("over_quota", "the limit set for the account is reached", .serverFailure),
        ("unexpected", "a fault of this program", .serverFailure),
        ("usage", "an option, a value or a file that cannot work", .usage),
        ("invalid_name", "the text is not a name", .usage),
        ("unsupported_type", "this resolver cannot be asked for that type", .usage),
        ("no_source", "no source of the chain can be asked for that type", .usage),
        ("misconfigured", "an option is missing or cannot work", .usage),
        ("untrusted", "the resolver's identity was not proven", .negative),
        ("refused_addresses", "the answer cannot be right for a public name", .negative),
        ("not_covered", "the source does not know the name", .negative),
        ("cancelled", "interrupted", .interrupted),
    ]

    private static func exitCode(_ label: String) -> ExitCode {
        codes.first { $0.label == label }?.code ?? .serverFailure
    }
}

// What the parts say together
extension LookupReport {
    /// Whether the command was told to end before all types were answered.
    package var isCutOff: Bool { troubles.contains(where: \.isInterruption) }

    package var answered: [LookupAnswer] { parts.compactMap { try? $0.result.get() } }

    package var troubles: [LookupTrouble] {
        parts.compactMap { part in
            if case .failure(let trouble) = part.result { trouble } else { nil }
        }
    }

    /// Whether there is a record of a type that was asked for.
    package var hasRecords: Bool { answered.contains { $0.outcome == .records } }

    /// `NOERROR`, `NXDOMAIN`, `NODATA`, or the name of another code; nil when there is no answer.
    package var status: String? {
        if hasRecords { return "NOERROR" }
        if answered.contains(where: { $0.outcome == .noSuchName }) { return "NXDOMAIN" }
        if let failure = answered.first(where: { $0.testimony.code != .noError }) {
            return failure.testimony.code.name
        }
        return troubles.isEmpty && !answered.isEmpty ? "NODATA" : nil
    }

    /// The most serious thing that went wrong, negative answers aside; records of one kind of address
    /// make up for the other only in the exit code.
    package var trouble: LookupTrouble? {
        let failed = answered.compactMap { answer -> LookupTrouble? in
            if case .serverFailure(let code) = answer.outcome {
                LookupTrouble(answered: code)
            } else {
                nil
            }
        }
        return (troubles + failed).max { $0.code < $1.code }
    }

    package var exitCode: ExitCode {
        if case .failure = subject.name { return .usage }
        if hasRecords {
            return asksForAddresses ? .succeeded : trouble?.code ?? .succeeded
        }
        if status == "NXDOMAIN" { return .negative }
        return trouble?.code ?? .negative
    }

    /// All records as answered, each once, with the smaller of two TTLs.
    package var records: [ResourceRecord] {
        var records: [ResourceRecord] = []
        var places: [RecordIdentity: Int] = [:]
        for record in answered.flatMap(\.testimony.answers) {
            let identity = RecordIdentity(
                name: record.name, type: record.type, data: record.data)
            guard let place = places[identity] else {
                places[identity] = records.count
                records.append(record)
                continue
            }
            if record.ttlSeconds < records[place].ttlSeconds { records[place] = record }
        }
        return records
    }

    package var addresses: [IPAddress] {
        var seen: Set<IPAddress> = []
        return answered.flatMap(\.addresses).filter { seen.insert($0).inserted }
    }

    package var aliases: [WireName] { answered.map(\.aliases).max { $0.count < $1.count } ?? [] }

    /// The data at the end of the alias chain, of the types asked for.
    package var endData: [String] {
        let ends = Set(answered.map { $0.aliases.last ?? WireName($0.testimony.question.name) })
        let types = Set(parts.map(\.type))
        return records.filter {
            ends.contains($0.name) && (types.contains($0.type) || types.contains(.any))
        }.map(\.shownData)
    }

    /// How long the records may be used: the smallest TTL; nil without records.
    package var ttlSeconds: UInt32? {
        answered.filter { $0.outcome == .records }.map(\.ttlSeconds).min()
    }

    /// How long the negative answer holds; nil when it gives no SOA, or when there are records.
    package var negativeTTLSeconds: UInt32? {
        guard !hasRecords else { return nil }
        let negative = answered.filter {
            $0.outcome == .noData || $0.outcome == .noSuchName
        }
        return negative.compactMap(\.testimony.negativeTTLSeconds).min()
    }

    /// Why the servers answered as they did, each reason once.
    package var extendedErrors: [ExtendedError] {
        var seen: Set<ExtendedError> = []
        return answered.flatMap(\.testimony.extendedErrors).filter { seen.insert($0).inserted }
    }

    package var isCached: Bool { !answered.isEmpty && answered.allSatisfy(\.isCached) }

    /// What the answers say of where they come from; the first of several.
    package var answerSource: Testimony.Source? {
        (answered.first { $0.outcome == .records } ?? answered.first)?.testimony.source
    }

    package var tries: Int {
        let told = answered.map(\.testimony.source.tries) + troubles.compactMap(\.tries)
        return told.max() ?? (parts.isEmpty ? 0 : 1)
    }
}

/// What makes two records the same, their TTLs aside.
private struct RecordIdentity: Hashable {
    let name: WireName
    let type: RecordType
    let data: RecordData
}

extension ExtendedError {
    /// `EDE 18 (Prohibited): "not from here"`; what the server wrote in quotes, escaped.
    package var shown: String {
        "EDE \(code)" + (name.map { " (\($0))" } ?? "") + (text.isEmpty ? "" : ": " + quoted(text))
    }
}

extension ResourceRecord {
    /// The data for people and scripts: names of CNAME, NS and PTR without their last dot.
    package var shownData: String {
        if case .name(let name) = data { return name.description }
        return data.presentation(type: type)
    }
}
