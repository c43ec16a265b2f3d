internal import HTTPDNSExchange
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSPlatform
package import HTTPDNSTransport

/// The words of a service that hands out its servers. No I/O.
package protocol ServerListCodec: Sendable {
    /// What to ask the service; `now` dates signatures.
    func request(now: WallTime) throws(QueryFailure) -> HTTPDNSRequest

    /// What the service says.
    ///
    /// - Parameter port: of servers for which it names none.
    func list(
        in response: HTTPDNSResponse, port: Port
    ) throws(QueryFailure) -> ServiceSchedule.ServiceList
}

/// Drives ``ServiceSchedule``: fetches the list from the service, saves it, reads the clocks.
///
/// A question never waits for a fetch: until the list is there, the servers that hand it out answer.
package final class ScheduledServers: ServerDirectory {
    private struct State {
        var schedule: ServiceSchedule
        /// The newest of what is to be saved.
        var unsaved: ServiceSchedule.Stored?
        var isSaving = false

        /// Takes out what is to be saved, so that the newest is, whoever comes to do it.
        mutating func perform(_ actions: [ServiceSchedule.Action]) -> Bool {
            var mustFetch = false
            for action in actions {
                switch action {
                case .fetch: mustFetch = true
                case .save(let stored): unsaved = stored
                }
            }
            return mustFetch
        }
    }

    private let state: Locked<State>
    private let codec: any ServerListCodec
    private let service: HTTPService
    private let transport: Transport
    private let settings: Settings

    /// What the driver can be told beside whom to ask.
    package struct Settings: Sendable {
        /// Where list and cursor last; nil for nowhere.
        package var store: (any ServiceCursorStore)?
        /// Is told what went wrong in the background: a damaged file, a fetch that failed.
        package var report: @Sendable (String) -> Void = { _ in }
        package var clock: any MonotonicSource = SystemMonotonicClock()
        package var wallClock: any WallSource = SystemWallClock()

        package init() {}
    }

    /// - Parameters:
    ///   - codec: the words of the scheduling service.
    ///   - service: the servers that hand out the list, and answer until it is there.
    ///   - transport: carries the requests.
    ///   - settings: store, clocks, and who is told of trouble.
    package init(
        codec: any ServerListCodec, service: HTTPService, transport: Transport,
        settings: Settings = Settings()
    ) {
        self.codec = codec
        self.service = service
        self.transport = transport
        self.settings = settings
        var stored: ServiceSchedule.Stored?
        do throws(StoreFault) { stored = try settings.store?.load() } catch {
            settings.report(error.description)
        }
        let bootstrap = service.route.addresses.map {
            Endpoint(address: $0, port: service.route.port)
        }
        state = Locked(State(schedule: ServiceSchedule(bootstrap: bootstrap, stored: stored)))
    }

    /// Fetches the list for the first time.
    package func start() { step { $0.started($1) } }

    /// To be called when the network has changed.
    package func networkChanged() { step { $0.networkChanged($1) } }

    package var isLocal: Bool {
        let servers = state.withLock { $0.schedule.servers }
        return !servers.isEmpty && servers.allSatisfy(\.address.isLoopback)
    }

    package func plan() throws(QueryFailure) -> ServerRotation {
        let now = moment()
        let (result, mustFetch) = state.withLock { state in
            let (result, actions) = state.schedule.plan(now)
            return (result, state.perform(actions))
        }
        follow(mustFetch: mustFetch)
        return try result.get()
    }

    package func failed(_ server: Endpoint) { step { $0.failed(server, $1) } }

    package func answered(_ server: Endpoint) { step { $0.answered(server, $1) } }

    private func moment() -> ServiceSchedule.Moment {
        ServiceSchedule.Moment(
            monotonic: settings.clock.now(), wall: settings.wallClock.now())
    }

    private func step(
        _ event: (inout ServiceSchedule, ServiceSchedule.Moment) -> [ServiceSchedule.Action]
    ) {
        let now = moment()
        follow(mustFetch: state.withLock { $0.perform(event(&$0.schedule, now)) })
    }

    private func follow(mustFetch: Bool) {
        if mustFetch { Task { await self.fetch() } }
        save()
    }

    /// Writes what is to be saved, without the lock. One thread at a time does, and goes on until
    /// nothing newer is there: two at once could leave the older on the disk.
    private func save() {
        while let stored = takeUnsaved() {
            do throws(StoreFault) { try settings.store?.save(stored) } catch {
                settings.report(error.description)
            }
            state.withLock { $0.isSaving = false }
        }
    }

    private func takeUnsaved() -> ServiceSchedule.Stored? {
        state.withLock { state in
            guard !state.isSaving, let stored = state.unsaved else { return nil }
            state.isSaving = true
            state.unsaved = nil
            return stored
        }
    }

    /// How long a fetch may take. Because: it is in nobody's way, and a slow network needs it most.
    static let fetchMilliseconds: Int64 = 10_000
    /// Because: a list of 64 servers takes a few thousand octets.
    private static let maximumListOctets = 65_536

    private func fetch() async {
        do throws(QueryFailure) {
            let request = try codec.request(now: settings.wallClock.now())
            var call = HTTPService.Call(target: request.target)
            do { try call.fields.set("Accept", request.accept) } catch {
                throw .unexpected("ScheduledServers: \(error)")
            }
            let collected = try await service.response(
                to: call, over: transport, maximumBodyOctets: Self.maximumListOctets,
                deadline: settings.clock.now().adding(milliseconds: Self.fetchMilliseconds))
            let response = HTTPDNSResponse(
                status: collected.head.status,
                contentType: collected.head.fields.first("Content-Type"), body: collected.body)
            let list = try codec.list(in: response, port: service.route.port)
            if list.servers.isEmpty, !list.isTurnedOff {
                settings.report("the list of servers came without a server; it is left as it was")
            }
            step { $0.fetched(list, $1) }
        } catch {
            settings.report("the list of servers could not be fetched: \(error)")
            step { $0.fetchFailed($1) }
        }
    }
}
