package import HTTPDNSLookup
package import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// The gathering of a host's addresses, families side by side.
final class GatheringDriver: Stoppable {
    private struct State {
        var gathering: AddressGathering
        var work: [any Stoppable] = []
        var delay: AlarmID?
        /// The gathering is over.
        var isDone = false
        /// Whom to tell; nil once told. A caller may keep the driver for longer, and what it tells may
        /// hold the caller.
        var deliver: (@Sendable (Result<ResolvedHost, ResolutionFailure>) -> Void)?
    }

    private let host: HostName
    /// When its caller's patience ends.
    private let limit: Monotonic
    private let alarms: any AlarmSource
    private let clock: any MonotonicSource
    private let resolver: Resolver
    private let state: Locked<State>

    init(
        _ host: HostName, families: Set<IPAddress.Family>, limit: Monotonic, resolver: Resolver,
        deliver: @escaping @Sendable (Result<ResolvedHost, ResolutionFailure>) -> Void
    ) {
        self.host = host
        self.limit = limit
        alarms = resolver.alarms
        clock = resolver.clock
        self.resolver = resolver
        state = Locked(
            State(gathering: AddressGathering(families: families), deliver: deliver))
    }

    func answered(_ family: IPAddress.Family, _ outcome: AddressGathering.Outcome) {
        perform { $0.gathering.answered(family, outcome) }
    }

    func add(_ work: (any Stoppable)?) {
        guard let work else { return }
        let isTold = state.withLock { state in
            if state.deliver != nil { state.work.append(work) }
            return state.deliver == nil
        }
        if isTold { work.stop() }
    }

    func stop() {
        let (work, delay) = state.withLock { state in
            state.isDone = true
            return (state.work, state.delay)
        }
        delay.map(alarms.cancel)
        tell(.failure(.failed(.cancelled)))
        for lookup in work { lookup.stop() }
    }

    /// Only the first of answer and cancellation counts.
    private func tell(_ result: Result<ResolvedHost, ResolutionFailure>) {
        let deliver = state.withLock { state in
            defer {
                state.deliver = nil
                state.work = []
            }
            return state.deliver
        }
        deliver?(result)
    }

    private func perform(_ step: (inout State) -> [AddressGathering.Action]) {
        let (actions, outcomes, delay) = state.withLock { state in
            guard !state.isDone else {
                return ([AddressGathering.Action](), state.gathering.outcomes, AlarmID?.none)
            }
            let actions = step(&state)
            if actions.contains(.finish) { state.isDone = true }
            return (actions, state.gathering.outcomes, state.delay)
        }
        for action in actions {
            switch action {
            case .armDelay(let milliseconds):
                let alarm = alarms.schedule(
                    at: clock.now().adding(milliseconds: milliseconds)
                ) { self.perform { $0.gathering.delayOver() } }
                state.withLock { $0.delay = alarm }
            case .disarmDelay: delay.map(alarms.cancel)
            case .finish: finish(outcomes)
            }
        }
    }

    private func finish(_ outcomes: [IPAddress.Family: AddressGathering.Outcome]) {
        do throws(ResolutionFailure) {
            let found = resolver.placed(try ResolvedHost(host: host, outcomes: outcomes))
            add(
                resolver.translated(found, by: limit) { found in
                    guard let found else { return self.tell(.failure(.failed(.cancelled))) }
                    self.tell(.success(self.resolver.ranked(found, now: self.clock.now())))
                    self.resolver.probe(found)
                })
        } catch {
            tell(.failure(error))
        }
    }
}

extension Resolver {
    /// Starts finding a host's addresses; `deliver` is called once, possibly before this returns.
    ///
    /// - Parameter use: `.refresh` asks past what is kept.
    package func startResolving(
        _ host: Host, families: Set<IPAddress.Family>? = nil, patience: Duration? = nil,
        use: CacheUse = .normal,
        deliver: @escaping @Sendable (Result<ResolvedHost, ResolutionFailure>) -> Void
    ) -> (any Stoppable)? {
        let families = families ?? options.families
        let limit = clock.now().adding(
            milliseconds: (patience ?? options.patience).wholeMilliseconds)
        switch host {
        case .name(let name) where families.isEmpty:
            // Nothing would be asked, so nothing would ever answer.
            deliver(.failure(.failed(.noSource(question: .addresses(of: name, .ipv4)))))
            return nil
        case .address(let address):
            return translated(ResolvedHost(literal: address), by: limit) { found in
                deliver(found.map { .success($0) } ?? .failure(.failed(.cancelled)))
            }
        case .name(let name) where Resolver.isLocalhost(name):
            deliver(.success(ResolvedHost(host: host, literals: Resolver.loopback(families))))
            return nil
        case .name(let name):
            let driver = GatheringDriver(
                name, families: families, limit: limit, resolver: self, deliver: deliver)
            for family in [IPAddress.Family.ipv6, .ipv4] where families.contains(family) {
                let work = startLookup(
                    .addresses(of: name, family), patience: patience, use: use
                ) {
                    driver.answered(family, $0)
                }
                driver.add(work)
            }
            return driver
        }
    }

    /// `localhost` and names under it never leave the machine. Source: RFC 6761 §6.3.
    private static func isLocalhost(_ name: HostName) -> Bool {
        name.text == "localhost" || name.text.hasSuffix(".localhost")
    }

    private static func loopback(_ families: Set<IPAddress.Family>) -> [IPAddress] {
        switch (families.contains(.ipv4), families.contains(.ipv6)) {
        case (true, true): loopbacks
        case (true, false): Array(loopbacks.prefix(1))
        case (false, true): Array(loopbacks.suffix(1))
        case (false, false): []
        }
    }

    private static let loopbacks = [
        IPAddress(family: .ipv4, high: 0, low: 0x7F00_0001),
        IPAddress(family: .ipv6, high: 0, low: 1),
    ]
}
