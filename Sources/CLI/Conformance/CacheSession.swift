internal import HTTPDNSDatagram
internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSWire

/// The library's resolver before one scripted server, in a time of its own.
final class CacheSession: Sendable {
    private let resolver: Resolver
    private let clock = ShiftedClock()
    private let settings: CacheSettings
    private let start = Locked<Int64?>(nil)

    init(server: Endpoint, settings: CacheSettings) {
        self.settings = settings
        let backend = DatagramBackend(
            servers: [server], tries: 2,
            // The second try must come within the patience.
            firstTryMilliseconds: settings.patienceMilliseconds / 3)
        resolver = Resolver(
            sources: [ShiftedBackend(backend: backend, clock: clock)],
            options: CacheSession.options(settings), clock: clock,
            alarms: ShiftedAlarms(clock: clock))
    }

    /// The resolver's options for a scenario: the one place where its settings become ours.
    private static func options(_ settings: CacheSettings) -> ResolverOptions {
        var options = ResolverOptions()
        options.patience = .milliseconds(settings.patienceMilliseconds)
        options.lifeRules.all.minimumSeconds = UInt32(clamping: settings.minimumTTL)
        options.lifeRules.all.maximumSeconds = settings.maximumTTL.map { UInt32(clamping: $0) }
        options.addressPolicy = .off
        // The vectors' time leaps; what is asked ahead of a leap belongs to no step of theirs.
        options.refreshesPopular = false
        guard settings.servesExpired else { return options }
        var stale = StaleAnswers(
            // Without a bound in the scenario: longer than any of them lasts.
            maximumAge: .seconds(settings.maximumStale ?? Int64(AnswerLife.maximumSeconds)),
            after: .milliseconds(settings.clientTimeout ?? 0))
        if let seconds = settings.staleTTL { stale.ttlSeconds = UInt32(clamping: seconds) }
        options.staleAnswers = stale
        return options
    }

    /// Asks at a moment of the scenario; blocks the calling thread until there is an end.
    func resolve(_ question: Question, nowSeconds: Int64) -> JSONObject {
        let first = start.withLock { start in
            if start == nil { start = nowSeconds }
            return start ?? nowSeconds
        }
        clock.set(secondsAhead: nowSeconds &- first)
        let box = ConditionLocked<[Result<LookupAnswer, LookupFailure>]>([])
        Task.detached { [resolver] in
            let result: Result<LookupAnswer, LookupFailure>
            do throws(LookupFailure) {
                result = .success(try await resolver.lookup(question))
            } catch {
                result = .failure(error)
            }
            box.withLockSignalling { [result] in $0 = [result] }
        }
        let results = box.waitAndTake({ results, _ in results }, until: { _ in nil })
        settle()
        guard case .success(let answer)? = results.first else {
            // What a resolver tells its clients when nobody could tell it. Source: RFC 1035 §4.1.1.
            return ["rcode": "SERVFAIL", "answers": [], "stale": false]
        }
        return json(answer)
    }

    /// Waits until what the answer set off behind it has ended: in the vectors' time it has, when their
    /// next step begins.
    private func settle() {
        let real = SystemMonotonicClock()
        let end = real.now().adding(milliseconds: 2 * settings.patienceMilliseconds)
        _ = ConditionLocked(()).waitAndTake(
            { _, now in resolver.isIdle || now >= end ? [()] : [] },
            until: { _ in real.now().adding(milliseconds: CacheSession.lookMilliseconds) })
    }

    /// Because: a refresh over loopback ends within it; the resolver tells its callers of an end, and
    /// nobody is one here.
    private static let lookMilliseconds: Int64 = 1

    private func json(_ answer: LookupAnswer) -> JSONObject {
        let life = AnswerLife.seconds(of: answer.testimony)
        // A cached answer ages as a whole.
        let age = answer.isCached ? life - min(life, answer.ttlSeconds) : 0
        let types: [RecordType] = [.a, .aaaa, .cname]
        let records = answer.testimony.answers.filter { types.contains($0.type) }
        return [
            "rcode": .string(answer.testimony.code.name),
            "answers": .array(
                records.map { record in
                    [
                        .string(record.name.absoluteText.lowercased()),
                        .string(record.type.name),
                        .integer(Int64(record.ttlSeconds - min(record.ttlSeconds, age))),
                        .string(value(record)),
                    ]
                }),
            "stale": .bool(answer.isStale),
        ]
    }

    private func value(_ record: ResourceRecord) -> String {
        if case .name(let target) = record.data { return target.absoluteText.lowercased() }
        return record.data.presentation(type: record.type)
    }
}

/// The monotonic clock, set ahead. Between two settings it runs as the real one does, so that waits
/// for a server are real.
final class ShiftedClock: MonotonicSource {
    private let ahead = Locked<Int64>(0)

    func set(secondsAhead: Int64) { ahead.withLock { $0 = secondsAhead } }

    func now() -> Monotonic { shifted(SystemMonotonicClock().now()) }

    func shifted(_ moment: Monotonic) -> Monotonic {
        moment.adding(seconds: ahead.withLock { $0 })
    }

    /// The moment of the real clock.
    func real(_ moment: Monotonic) -> Monotonic {
        moment == .distantFuture ? moment : moment.adding(seconds: ahead.withLock { 0 &- $0 })
    }
}

/// Rings at moments of a shifted clock.
private struct ShiftedAlarms: AlarmSource {
    let clock: ShiftedClock

    func schedule(at moment: Monotonic, _ ring: @escaping @Sendable () -> Void) -> AlarmID {
        AlarmThread.shared.schedule(at: clock.real(moment), ring)
    }

    func cancel(_ id: AlarmID) { AlarmThread.shared.cancel(id) }
}

/// A back-end that is told its deadlines in the time of a shifted clock.
private struct ShiftedBackend: ResolverBackend {
    let backend: DatagramBackend
    let clock: ShiftedClock

    var label: String { backend.label }
    var isAuthenticated: Bool { backend.isAuthenticated }
    var isLocal: Bool { backend.isLocal }
    var isOfTheSystem: Bool { backend.isOfTheSystem }
    var supportedTypes: Set<RecordType>? { backend.supportedTypes }

    func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        try await backend.ask(question, deadline: clock.real(deadline))
    }
}
