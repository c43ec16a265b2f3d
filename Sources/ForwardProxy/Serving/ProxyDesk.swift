internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What other threads tell the proxy's.
enum ProxyMessage: Sendable {
    case routed(Result<ProvenRoute, RouteFailure>)
    /// 1xx.
    case hinted(ResponseHead)
    case responded(ResponseHead, ExchangeReport)
    case body([UInt8])
    case ended(Result<ExchangeReport, ExchangeFailure>)
    /// The origin takes the body: now the client may send it.
    case bodyWanted
    /// There is room for more of it.
    case bodyDrained
}

/// Which request of which connection a message is about: late ones find no such turn.
struct Turn: Sendable, Hashable {
    let connection: UInt64
    let request: UInt64
}

/// The part of a proxy that all threads share: the mailbox of its thread, and what never changes.
final class ProxyDesk: Sendable {
    struct Mail: Sendable {
        var messages: [(Turn, ProxyMessage)] = []
        /// When the proxy must have ended; nil: it goes on.
        var stopsAt: Monotonic?
    }

    let poll: EventPoll
    let client: HTTPDNSClient
    let prover: AddressProver
    let settings: ForwardProxyConfiguration
    let rules: ProxyRules
    private let mail = Locked(Mail())
    private let counts = Locked(ForwardProxyCounts())

    init(
        poll: EventPoll, client: HTTPDNSClient, settings: ForwardProxyConfiguration,
        rules: ProxyRules
    ) {
        self.poll = poll
        self.client = client
        self.settings = settings
        self.rules = rules
        prover = AddressProver(client, rules)
    }

    func tell(_ turn: Turn, _ message: ProxyMessage) {
        let wasEmpty = mail.withLock { mail in
            mail.messages.append((turn, message))
            return mail.messages.count == 1
        }
        if wasEmpty { poll.wake() }
    }

    /// An earlier end stands.
    func stop(at moment: Monotonic) {
        mail.withLock { $0.stopsAt = min($0.stopsAt ?? moment, moment) }
        poll.wake()
    }

    func takeMail() -> Mail {
        mail.withLock { mail in
            defer { mail.messages = [] }
            return mail
        }
    }

    func count(_ change: (inout ForwardProxyCounts) -> Void) { counts.withLock { change(&$0) } }

    var currentCounts: ForwardProxyCounts { counts.withLock { $0 } }
}
