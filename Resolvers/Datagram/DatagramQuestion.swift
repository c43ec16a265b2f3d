internal import HTTPDNSLookup
internal import HTTPDNSNames

/// What the engine's thread is told.
enum DatagramOrder: Sendable {
    case ask(DatagramQuestion)
    case cancel(DatagramQuestion.ID)
}

/// One question on its way to the engine's thread. A class, because it is handed on several times and is
/// large.
final class DatagramQuestion: Sendable {
    struct ID: Sendable, Hashable {
        let number: UInt64
    }

    let id: ID
    let query: DatagramQuery
    let plan: DatagramPlan
    /// Wanted: what else comes in answer, after the first.
    let watch: EvidenceWatch?
    /// Sees each message that answers it; called on the engine's thread.
    let observer: ReplyObserver?
    /// Called once, on the engine's thread or the caller's; must return at once.
    let deliver: @Sendable (Result<Testimony, QueryFailure>) -> Void

    init(
        id: ID, query: DatagramQuery, plan: DatagramPlan, watch: EvidenceWatch?,
        observer: ReplyObserver? = nil,
        deliver: @escaping @Sendable (Result<Testimony, QueryFailure>) -> Void
    ) {
        self.id = id
        self.query = query
        self.plan = plan
        self.watch = watch
        self.observer = observer
        self.deliver = deliver
    }
}

/// How long to listen for a second answer, and whom to tell.
struct EvidenceWatch: Sendable {
    let milliseconds: Int64
    /// Called on the engine's thread; must return at once.
    let report: @Sendable (ForgedAnswerEvidence) -> Void
}

/// A question that the engine has begun with. Owned by its thread.
final class RunningQuestion {
    let question: DatagramQuestion
    var query: DatagramQuery
    var wakeAt: Monotonic
    /// Its open attempts, in the order in which they left.
    var tokens: [UInt64] = []

    init(_ question: DatagramQuestion) {
        self.question = question
        query = question.query
        wakeAt = question.query.deadline
    }
}

/// What one UDP socket waits for. Owned by the engine's thread.
final class UDPErrand {
    let owner: RunningQuestion
    let attempt: DatagramQuery.Attempt
    let server: Endpoint
    let message: [UInt8]
    let sentAt: Monotonic
    /// Set once it was answered, while more is listened for.
    var watched: WatchedAnswer?

    init(
        owner: RunningQuestion, attempt: DatagramQuery.Attempt, server: Endpoint,
        message: [UInt8], sentAt: Monotonic
    ) {
        self.owner = owner
        self.attempt = attempt
        self.server = server
        self.message = message
        self.sentAt = sentAt
    }

    func verdict(_ reply: [UInt8]) -> ReplyCheck {
        // A name's wire form has two octets more than its text, and the root's is one; type and class
        // take four.
        let name = owner.query.question.name
        return ReplyCheck.verdict(
            reply, to: message,
            questionOctets: (name.isRoot ? 1 : name.text.utf8.count + 2) + 4)
    }
}

/// The first answer to a question whose socket still listens.
struct WatchedAnswer {
    let watch: EvidenceWatch
    let hadEDNS: Bool
    let first: Testimony
    let firstAt: Monotonic

    /// What a further reply to the same query proves; nil when it says the same, or nothing.
    func evidence(_ reply: [UInt8], now: Monotonic) -> ForgedAnswerEvidence? {
        let read = DatagramReply.read(
            reply, for: first.question, hadEDNS: hadEDNS, from: first.source)
        guard case .testimony(let second) = read, ForgedAnswerEvidence.differs(first, second)
        else { return nil }
        return ForgedAnswerEvidence(
            question: first.question, server: first.source.server ?? "", first: first,
            second: second, millisecondsApart: now.milliseconds(since: firstAt))
    }
}
