extension Message {
    /// A query for one name and type, class IN.
    ///
    /// `id` is 0 over HTTPS, so that equal questions are equal URLs (RFC 8484 §4.1), and random over
    /// UDP and TCP.
    public static func query(
        id: UInt16, name: WireName, type: RecordType, options: QueryOptions = QueryOptions()
    ) -> Message {
        var message = Message(id: id, questions: [Question(name: name, type: type)])
        message.flags.wantsRecursion = options.wantsRecursion
        message.edns = options.edns
        return message
    }
}

/// How a query is put.
public struct QueryOptions: Sendable, Hashable {
    /// The RD bit.
    public var wantsRecursion = true
    /// Nil sends no OPT record.
    public var edns: EDNS? = EDNS()

    public init() {}

    public init(wantsRecursion: Bool = true, edns: EDNS?) {
        self.wantsRecursion = wantsRecursion
        self.edns = edns
    }

    /// The block that queries are padded to over an encrypted transport. Source: RFC 8467 §4.1.
    public static let paddingBlockOctets = 128
}
