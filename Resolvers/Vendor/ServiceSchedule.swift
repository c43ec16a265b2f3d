package import HTTPDNSLookup
package import HTTPDNSNames

/// Decides which server of a service is asked, when its list is fetched anew, and when the service is
/// left alone. Does no I/O.
///
///     normal ── shift ──▶ wary ── shift ──▶ resting: one probe in 30 s
///        ▲                  │                   │
///        └──── an answer ───┴───────────────────┘
///
/// A shift is a failure that makes another server the first. Rules:
/// 1. Until there is a list, the servers that hand it out are asked.
/// 2. The list is fetched at the start, after a change of network, when it is as old as it may grow
///    (8 h where it does not say), and when the turn comes back to the first server: all have failed.
///    One fetch at a time; after one that failed, and after one for a full turn, there is a pause, the
///    longer of the two, which a change of network ends. A fetch that was under way then is followed by
///    another: it has asked on the old network.
/// 3. An empty list is a failed fetch: what was known stays.
/// 4. A service that says it is off is off until a later fetch says otherwise.
/// 5. List and cursor are saved whenever they change.
///
/// Source: help.aliyun.com/document_detail/2868007 and the vendor's SDKs (rotation, 8 h, breaker).
package struct ServiceSchedule: Sendable {
    /// What lasts from one start of the program to the next.
    package struct Stored: Sendable, Hashable {
        package let servers: [Endpoint]
        package let cursor: Int
        package let fetchedAt: WallTime
        package let freshSeconds: Int64

        package init(
            servers: [Endpoint], cursor: Int, fetchedAt: WallTime,
            freshSeconds: Int64 = ServiceSchedule.freshSeconds
        ) {
            self.servers = servers
            self.cursor = cursor
            self.fetchedAt = fetchedAt
            self.freshSeconds = freshSeconds
        }
    }

    /// What the scheduling service says.
    package struct ServiceList: Sendable, Hashable {
        package var servers: [Endpoint]
        package var isTurnedOff: Bool
        /// How old it may grow.
        package var freshSeconds: Int64

        package init(
            servers: [Endpoint], isTurnedOff: Bool = false,
            freshSeconds: Int64 = ServiceSchedule.freshSeconds
        ) {
            self.servers = servers
            self.isTurnedOff = isTurnedOff
            self.freshSeconds = freshSeconds
        }
    }

    package enum Action: Sendable, Hashable {
        /// Fetch the list; then ``fetched(_:now:)`` or ``fetchFailed(now:)``.
        case fetch
        case save(Stored)
    }

    /// Both clocks, read once for an event.
    package struct Moment: Sendable, Hashable {
        package let monotonic: Monotonic
        package let wall: WallTime

        package init(monotonic: Monotonic, wall: WallTime) {
            self.monotonic = monotonic
            self.wall = wall
        }
    }

    private enum Condition: Hashable {
        case normal
        /// One shift without an answer since.
        case wary
        /// Two: asked at most once until `probeAt` and so on.
        case resting(probeAt: Monotonic)
    }

    private var rotation: ServerRotation
    private var fetchedAt: WallTime?
    /// Of the list.
    private var freshSeconds = ServiceSchedule.freshSeconds
    private var isFetching = false
    /// The network has changed since the fetch began.
    private var mustFetchAgain = false
    private var mayFetchAt: Monotonic?
    private var isTurnedOff = false
    private var condition = Condition.normal

    /// - Parameters:
    ///   - bootstrap: the servers that hand out the list.
    ///   - stored: what the last run has saved.
    package init(bootstrap: [Endpoint], stored: Stored?) {
        if let stored, !stored.servers.isEmpty {
            rotation = ServerRotation(stored.servers, cursor: stored.cursor)
            fetchedAt = stored.fetchedAt
            freshSeconds = stored.freshSeconds
        } else {
            rotation = ServerRotation(bootstrap)
        }
    }

    /// The program has started.
    package mutating func started(_ now: Moment) -> [Action] { fetch(now) }

    /// Whom it would ask, in no order.
    package var servers: [Endpoint] { rotation.servers }

    /// The network is another one: other servers may be nearer, and pauses belong to the old one.
    package mutating func networkChanged(_ now: Moment) -> [Action] {
        mayFetchAt = nil
        condition = .normal
        mustFetchAgain = isFetching
        return fetch(now)
    }

    /// Whom to ask.
    package mutating func plan(
        _ now: Moment
    ) -> (Result<ServerRotation, QueryFailure>, [Action]) {
        let actions = isStale(now) ? fetch(now) : []
        guard !isTurnedOff else {
            return (.failure(.rejected(code: Self.turnedOffCode)), actions)
        }
        guard case .resting(let probeAt) = condition else {
            return (.success(rotation), actions)
        }
        let left = probeAt.millisecondsLeft(from: now.monotonic)
        guard left == 0 else { return (.failure(.resting(milliseconds: left)), actions) }
        condition = .resting(
            probeAt: now.monotonic.adding(milliseconds: Self.probeIntervalMilliseconds))
        // A probe asks one server, once.
        return (.success(ServerRotation(rotation.current.map { [$0] } ?? [])), actions)
    }

    package mutating func answered(_ server: Endpoint, _ now: Moment) -> [Action] {
        condition = .normal
        let before = rotation.cursor
        rotation.answered(server)
        return rotation.cursor == before ? [] : save()
    }

    package mutating func failed(_ server: Endpoint, _ now: Moment) -> [Action] {
        let before = rotation.cursor
        let isFullTurn = rotation.failed(server)
        // One that fails alone shifts too; one that gave way before does not shift again.
        guard rotation.cursor != before || rotation.servers == [server] else { return [] }
        switch condition {
        case .normal: condition = .wary
        case .wary: condition = .resting(probeAt: now.monotonic)
        case .resting: break
        }
        var actions = save()
        if isFullTurn {
            actions += fetch(now)
            let pause = now.monotonic.adding(milliseconds: Self.fullTurnPauseMilliseconds)
            mayFetchAt = max(mayFetchAt ?? pause, pause)
        }
        return actions
    }

    package mutating func fetched(_ list: ServiceList, _ now: Moment) -> [Action] {
        guard isFetching else { return [] }
        isFetching = false
        isTurnedOff = list.isTurnedOff
        guard !list.servers.isEmpty || list.isTurnedOff else { return fetchFailed(now) }
        fetchedAt = now.wall
        freshSeconds = list.freshSeconds
        guard !list.servers.isEmpty else { return fetchAgain(now) }
        let first = rotation.current
        rotation = ServerRotation(list.servers)
        // The server that has answered so far stays first where it is still on the list.
        if condition == .normal, let first { rotation.answered(first) }
        condition = .normal
        return save() + fetchAgain(now)
    }

    package mutating func fetchFailed(_ now: Moment) -> [Action] {
        isFetching = false
        guard !mustFetchAgain else { return fetchAgain(now) }
        mayFetchAt = now.monotonic.adding(milliseconds: Self.failedFetchPauseMilliseconds)
        return []
    }

    private mutating func fetchAgain(_ now: Moment) -> [Action] {
        guard mustFetchAgain else { return [] }
        mustFetchAgain = false
        mayFetchAt = nil
        return fetch(now)
    }

    private mutating func fetch(_ now: Moment) -> [Action] {
        guard !isFetching, mayFetchAt.map({ $0 <= now.monotonic }) ?? true else { return [] }
        isFetching = true
        return [.fetch]
    }

    /// Never fetched, fetched too long ago, or "fetched" by a clock that was wrong.
    private func isStale(_ now: Moment) -> Bool {
        guard let fetchedAt else { return true }
        let age = now.wall.secondsSince1970.subtractingReportingOverflow(
            fetchedAt.secondsSince1970)
        return age.overflow || age.partialValue < 0 || age.partialValue >= freshSeconds
    }

    private func save() -> [Action] {
        guard let fetchedAt else { return [] }
        return [
            .save(
                Stored(
                    servers: rotation.servers, cursor: rotation.cursor, fetchedAt: fetchedAt,
                    freshSeconds: freshSeconds))
        ]
    }

    /// What questions are refused by while the service says that it is off.
    package static let turnedOffCode = "ServiceDisabled"

    /// How old a list may grow that does not say. Source: help.aliyun.com/document_detail/2868007.
    package static let freshSeconds: Int64 = 8 * 3_600
    /// Between two probes of a service at rest. Source: the vendor's Android SDK.
    static let probeIntervalMilliseconds: Int64 = 30_000
    /// Between fetches for full turns. Source: the vendor's iOS SDK.
    static let fullTurnPauseMilliseconds: Int64 = 30_000
    /// After a fetch that failed. Source: the vendor's C SDK.
    static let failedFetchPauseMilliseconds: Int64 = 300_000
}
