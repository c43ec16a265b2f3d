internal import HTTPDNSWire

/// Two answers to one query that say different things: one of them is not the server's.
///
/// A forger beside the path answers faster than the server, but cannot keep the server's own answer
/// from arriving.
public struct ForgedAnswerEvidence: Sendable, Hashable {
    public let question: Question
    /// The server asked: `192.0.2.1:53`.
    public let server: String
    /// The one that was believed, since it came first.
    public let first: Testimony
    public let second: Testimony
    /// Between the two.
    public let millisecondsApart: Int64

    public init(
        question: Question, server: String, first: Testimony, second: Testimony,
        millisecondsApart: Int64
    ) {
        self.question = question
        self.server = server
        self.first = first
        self.second = second
        self.millisecondsApart = millisecondsApart
    }

    /// True when the two say different things. TTLs and the order of records may differ in honest
    /// repeats: they do not count.
    package static func differs(_ first: Testimony, _ second: Testimony) -> Bool {
        first.code != second.code || said(first) != said(second)
    }

    private struct Statement: Hashable {
        let name: WireName
        let type: RecordType
        let data: RecordData
    }

    private static func said(_ testimony: Testimony) -> Set<Statement> {
        Set(testimony.answers.map { Statement(name: $0.name, type: $0.type, data: $0.data) })
    }
}
