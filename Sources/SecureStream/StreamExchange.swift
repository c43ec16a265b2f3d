internal import HTTPDNSNames

/// One question on its way through the engine.
package final class StreamExchange: @unchecked Sendable {
    // Safety: what can change is touched by the engine's thread alone, from the moment the exchange is
    // posted; before that by the caller who makes it.

    package typealias Outcome = Result<StreamReply, StreamFailure>

    /// The message, the body or the path: see ``HTTP2Head``.
    let payload: [UInt8]
    let deadline: Monotonic
    /// Whether the `Date` field is of interest.
    let keepsDate: Bool
    /// Called once, on the engine's thread or the caller's; must return at once.
    var deliver: (@Sendable (Outcome) -> Void)?

    /// Where it stands in the loop's list of what is not settled; -1 outside it.
    var place = -1
    var desk: ServiceDesk?
    /// The connection that carries it.
    var carrier: LiveConnection?
    /// The number of the connection that took it up last; 0 before.
    var takenBy: UInt64 = 0
    /// The number under which its session knows it: a slot, or a message's id.
    var number = 0
    var streamID: Int32 = 0
    /// How many octets of the payload are sent.
    var sent = 0
    var sentAt = Monotonic.zero
    var tries = 0
    var retries = 0
    var isCancelled = false

    var status = 0
    var contentType: String?
    var age: String?
    /// Kept only where ``keepsDate``.
    var date: String?
    var headOctets = 0
    var body: [UInt8] = []
    var isComplete = false
    var fault: String?

    init(payload: [UInt8], deadline: Monotonic, keepsDate: Bool = false) {
        self.payload = payload
        self.deadline = deadline
        self.keepsDate = keepsDate
    }

    var isSettled: Bool { place < 0 }

    /// Forgets what came, for another try.
    func startOver() {
        carrier = nil
        sent = 0
        status = 0
        contentType = nil
        age = nil
        date = nil
        headOctets = 0
        body = []
        isComplete = false
        fault = nil
    }
}
