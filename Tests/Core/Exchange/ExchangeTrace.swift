import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// Walks an ``ExchangeMachine`` to the state a test is about.
struct ExchangeTrace {
    static let first = "192.0.2.1"
    static let second = "192.0.2.2"

    var machine: ExchangeMachine
    let url: HTTPURL

    init(
        _ method: HTTPMethod = .get, _ url: String = "https://shop.example.test/",
        fields: [(String, String)] = [],
        change: (inout ExchangeMachine.Settings) -> Void = { _ in }
    ) throws {
        self.url = try HTTPURL(url)
        var settings = ExchangeMachine.Settings(hasBody: false, canReplayBody: true)
        change(&settings)
        var request = RequestHead(method: method, url: self.url)
        for (name, value) in fields { try request.fields.append(name, value) }
        machine = ExchangeMachine(request, settings: settings)
    }

    /// A machine whose transfer runs and has no head yet.
    static func connecting(
        _ method: HTTPMethod = .get, _ url: String = "https://shop.example.test/",
        to addresses: [String] = [first], fields: [(String, String)] = [],
        change: (inout ExchangeMachine.Settings) -> Void = { _ in }
    ) throws -> ExchangeTrace {
        var trace = try ExchangeTrace(method, url, fields: fields, change: change)
        _ = trace.machine.start(now: .at(0))
        _ = try trace.resolve(to: addresses)
        return trace
    }

    /// A machine whose caller gets the body.
    static func receiving() throws -> ExchangeTrace {
        var trace = try connecting()
        _ = trace.machine.received(try trace.response(200))
        _ = trace.machine.handedOver(now: .at(3))
        return trace
    }

    /// A machine that asks about a redirect, and what it asks.
    static func asking(
        _ status: Int = 302, location: String = "/next", fields: [(String, String)] = [],
        body: Int? = 0
    ) throws -> (ExchangeTrace, RedirectOffer) {
        var trace = try connecting()
        let length = body.map { [("Content-Length", "\($0)")] } ?? []
        let answer = try trace.response(
            status, [("Location", location)] + length + fields)
        let actions = trace.machine.received(answer)
        guard case .offerRedirect(let offer)? = actions.last else {
            throw TraceError(actions: "\(actions)")
        }
        return (trace, offer)
    }

    mutating func resolve(
        to addresses: [String], at moment: Int64 = 1, isKept: Bool = false
    ) throws -> [ExchangeMachine.Action] {
        guard case .name(let name) = url.origin.host else {
            let literals = try addresses.map { try IPAddress($0) }
            return machine.resolved(
                ResolvedHost(host: url.origin.host, literals: literals), now: .at(moment))
        }
        let answer = LookupAnswer(
            testimony: try Said.addresses(addresses, to: Question(name: name, type: .a)),
            ttlSeconds: 60, isCached: isKept)
        let host = try ResolvedHost(host: name, outcomes: [.ipv4: .success(answer)])
        return machine.resolved(host, now: .at(moment))
    }

    /// Every source has failed.
    func exhausted() throws -> ResolutionFailure {
        guard case .name(let name) = url.origin.host else { throw TraceError(actions: "no name") }
        return .failed(.exhausted(question: Question(name: name, type: .a), attempts: []))
    }

    /// The host does not exist.
    func denied() throws -> ResolutionFailure {
        guard case .name(let name) = url.origin.host else { throw TraceError(actions: "no name") }
        let testimony = Said.nothing(.noSuchName, to: Question(name: name, type: .a))
        return .negative(LookupAnswer(testimony: testimony, ttlSeconds: 60, isCached: false))
    }

    func response(
        _ status: Int, _ fields: [(String, String)] = []
    ) throws -> ResponseHead {
        var head = ResponseHead(url: url, status: status, version: .http11, fields: HTTPFields())
        for (name, value) in fields { try head.fields.append(name, value) }
        return head
    }

    func route(_ addresses: [String]) throws -> Route {
        try #require(
            Route(addresses: try addresses.map { try IPAddress($0) }, port: url.origin.port))
    }

    func distrust(_ code: TrustFailure.Code = .wrongName) -> TransportFailure {
        .untrusted(TrustFailure(code: code, facts: TrustFailure.Facts(host: url.origin.host)))
    }

    static let over = ExchangeMachine.TransferResult.success(TransferFacts())
}

struct TraceError: Error {
    let actions: String
}

extension [ExchangeMachine.Action] {
    /// The label of the failure that ends the exchange.
    var failure: ExchangeFailure? {
        if case .fail(let failure)? = last { failure } else { nil }
    }

    var isFinish: Bool {
        if case .finish? = last { count == 1 } else { false }
    }

    /// The request of the one transfer that is to be begun.
    var transfer: (head: RequestHead, route: Route, sendsBody: Bool, freshly: Bool)? {
        if case .transfer(let head, let route, let sendsBody, let freshly, _)? = last {
            (head, route, sendsBody, freshly)
        } else {
            nil
        }
    }
}
