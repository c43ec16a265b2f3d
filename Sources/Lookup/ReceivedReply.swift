package import HTTPDNSNames

/// What a source sent in answer to a question, as it came, before anything was made of it.
public struct RawReply: Sendable, Hashable {
    /// What the octets are; the raw value is the JSON spelling.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// A DNS message. Source: RFC 1035 §4.
        case dnsMessage = "dns_message"
        /// The body of an HTTP response, less what the request held that is nobody else's to know.
        case body = "http_body"
        /// The same of a service that encrypts its answers: the ciphertext.
        case encryptedBody = "encrypted_http_body"
    }

    public let form: Form
    /// The first of them, where there are more than ``maximumOctets``.
    public let octets: [UInt8]
    /// How many came.
    public let wholeOctets: Int

    /// Keeps what there is room for.
    public init(_ form: Form, _ octets: [UInt8]) {
        self.form = form
        self.octets =
            octets.count > RawReply.maximumOctets
            ? Array(octets.prefix(RawReply.maximumOctets)) : octets
        wholeOctets = octets.count
    }

    /// Whether less is kept than came.
    public var isCut: Bool { octets.count < wholeOctets }

    /// Because: the longest DNS message; a body that is longer is no answer about one name.
    public static let maximumOctets = 65_536
}

/// How a server tells what time it is; the raw value is the JSON spelling.
public enum TimeForm: String, Sendable, Hashable, CaseIterable {
    /// The `Date` field, and what the answer has aged in caches since. Source: RFC 9110 §6.6.1,
    /// RFC 9111 §5.1.
    case dateField = "date_field"
    /// A member of the answer of an HTTP-DNS service.
    case serviceTime = "service_time"
}

/// A time that came along with an answer.
package struct ToldTime: Sendable, Hashable {
    package let form: TimeForm
    package let time: WallTime

    package init(_ form: TimeForm, _ time: WallTime) {
        self.form = form
        self.time = time
    }

    /// Of an HTTP response: when it was made, and how long it has been kept since. Nil without a date;
    /// an age that is no number says nothing.
    package init?(date: WallTime?, age: String?) {
        guard let date else { return nil }
        let (time, overflow) = date.secondsSince1970.addingReportingOverflow(
            age.flatMap { UInt32($0) }.map { Int64($0) } ?? 0)
        guard !overflow else { return nil }
        self.init(.dateField, WallTime(secondsSince1970: time))
    }
}

/// One reply, and what it says besides the answer.
package struct ReceivedReply: Sendable, Hashable {
    package let raw: RawReply
    package let times: [ToldTime]

    package init(_ raw: RawReply, times: [ToldTime] = []) {
        self.raw = raw
        self.times = times
    }
}

/// Is told of replies, on any thread; returns at once.
package typealias ReplyObserver = @Sendable (ReceivedReply) -> Void

/// A back-end that can let somebody see what it receives.
///
/// Who looks is named in the call: nobody else pays for it.
package protocol TellingBackend: ResolverBackend {
    /// Asks as `ask` does, for itself, and tells of each reply before it is judged: of those, too, that
    /// are then refused. Several are told where several servers were asked. Nil: nobody looks.
    func ask(
        _ question: Question, deadline: Monotonic, telling observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony
}

extension TellingBackend {
    package func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        try await ask(question, deadline: deadline, telling: nil)
    }
}

extension ResolverBackend {
    /// The same of any back-end; one that does not tell leaves the observer alone.
    package func askTelling(
        _ question: Question, deadline: Monotonic,
        _ observer: ReplyObserver?
    ) async throws(QueryFailure) -> Testimony {
        guard observer != nil, let telling = self as? any TellingBackend else {
            return try await ask(question, deadline: deadline)
        }
        return try await telling.ask(question, deadline: deadline, telling: observer)
    }
}
