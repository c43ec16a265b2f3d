/// What a ``LabServer`` does about one request: an answer, good or bad, or none.
public struct LabResponse: Sendable, Hashable {
    /// What happens instead of, or besides, an answer.
    public enum Conduct: Sendable, Hashable {
        /// Sends the answer below.
        case answers
        /// Sends the head and this much of the body, then closes without a goodbye.
        case closes(afterBodyOctets: Int)
        /// Sends the head and this much of the body, then resets the connection.
        case resets(afterBodyOctets: Int)
        /// Sends the head and this much of the body, then falls silent.
        case stalls(afterBodyOctets: Int)
        /// Sends nothing and stays silent until the client gives up.
        case neverAnswers
        /// Sends nothing and closes.
        case closesUnanswered
        /// Sends nothing and resets.
        case resetsUnanswered
        /// Says that nothing of the request was processed: resets its stream with `REFUSED_STREAM`. On
        /// HTTP/1.1, which has no such word, as ``closesUnanswered``.
        case refusesStream
        /// Says that the connection is being left and nothing of the request was processed: a `GOAWAY`
        /// that names the stream before. On HTTP/1.1 as ``closesUnanswered``.
        case leavesUnprocessed
        /// Sends these octets as they are, then closes.
        case writes([UInt8])
        /// Sends the answer one octet at a time, head and all, with this pause between two.
        case trickles(pauseMilliseconds: Int64)
    }

    /// How the end of the body is told. Source: RFC 9112 §6.3.
    public enum Framing: Sendable, Hashable {
        /// `Content-Length`.
        case length
        /// `Transfer-Encoding: chunked`, one chunk a piece.
        case chunked
        /// By the end of the connection.
        case untilClose
    }

    /// The status code, 100...999.
    public var status: Int
    /// The fields besides those that frame the body, in order.
    public var fields: [LabField]
    /// The whole body.
    public var body: [UInt8]
    /// How its end is told.
    public var framing: Framing
    /// What happens besides.
    public var conduct: Conduct
    /// How long the server thinks first.
    public var delayMilliseconds: Int64
    /// The body is written in pieces of this many octets; 0 for one piece.
    public var pieceOctets: Int
    /// How long it waits between two pieces.
    public var pieceDelayMilliseconds: Int64
    /// Fields after the body; sent with the chunked framing only. Source: RFC 9112 §7.1.2.
    public var trailers: [LabField]

    /// An answer without faults.
    public init(status: Int = 200, fields: [LabField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
        framing = .length
        conduct = .answers
        delayMilliseconds = 0
        pieceOctets = 0
        pieceDelayMilliseconds = 0
        trailers = []
    }

    /// A text.
    public static func text(
        _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8"
    ) -> LabResponse {
        LabResponse(
            status: status, fields: [LabField("Content-Type", type)], body: Array(text.utf8))
    }

    /// A JSON text.
    public static func json(_ text: String, status: Int = 200) -> LabResponse {
        .text(text, status: status, type: "application/json")
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> LabResponse {
        LabResponse(status: status, fields: [LabField("Location", location)])
    }

    /// No answer, ever.
    public static let never = LabResponse().conducting(.neverAnswers)

    /// The same with another conduct.
    public func conducting(_ conduct: Conduct) -> LabResponse {
        var copy = self
        copy.conduct = conduct
        return copy
    }

    /// The same after a delay.
    public func delayed(milliseconds: Int64) -> LabResponse {
        var copy = self
        copy.delayMilliseconds = milliseconds
        return copy
    }

    /// The same with its body chunked and written piece by piece.
    public func chunked(octets: Int, delayMilliseconds: Int64 = 0) -> LabResponse {
        var copy = self
        copy.framing = .chunked
        copy.pieceOctets = octets
        copy.pieceDelayMilliseconds = delayMilliseconds
        return copy
    }
}
