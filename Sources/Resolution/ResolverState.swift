internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// Everything a resolver changes behind its one lock. The cache has locks of its own, which are
/// taken after this one and never before.
struct ResolverState {
    var table = LookupTable<Waiter>()
    var running: [LookupKey: RunningLookup] = [:]
    /// Tells a lookup from an earlier one of the same key, so that late replies are ignored.
    var lastSerial: UInt64 = 0
    /// How each source has done, by its label.
    var health: [String: SourceHealth] = [:]
    /// Whose addresses led to somebody else.
    var doubts = DoubtedSources()
    var failures = HeldFailures<LookupKey>()
    var rank = AddressRank()
    /// The names that are kept fresh, and the alarms that do it.
    var hot: [HostName: [RecordType: AlarmID]] = [:]
    /// Changes of network until now: what was begun before one says nothing of sources after it.
    var networkChanges: UInt64 = 0
    /// The prefix behind which IPv4 is reached, once it is known.
    var nat64: [NAT64Prefix]?
    /// Queries that outlive their lookups.
    var lingering: [LingeringQuery: RunningQuery] = [:]
}

/// A lookup in flight.
struct RunningLookup {
    let serial: UInt64
    let sources: [any ResolverBackend]
    var machine: LookupMachine
    var queries: [QueryID: RunningQuery] = [:]
    var alarm: AlarmID?
    /// The machine waits for what the store has to say.
    var isConsulting = false
    let subject: ResolverEvent.Subject
    /// What the store holds though its life is over: it is told when nothing better comes.
    var fallback: LookupAnswer?
    /// The source that gave nothing usable last, until the next one is asked.
    var lastFailed: String?
}

/// One asking of one source.
struct RunningQuery {
    /// Of its source.
    let label: String
    let asked: Monotonic
    let until: Monotonic
    /// ``ResolverState/networkChanges`` when it was asked.
    let network: UInt64
    /// It was sent to see whether its source is back.
    let isProbe: Bool
    /// The lookup does not wait for it any longer, and has judged its source.
    var isLeft = false
    /// Its time was over once, and its source has been judged for it.
    var isMissed = false
    /// A caller had no time for it; its source has its own.
    var isPassed = false
    /// What ends the asking before its time; nil when it is over, or not known yet.
    var ending: AskEnding?
    /// Ends it though nothing was heard, when it outlives its lookup as a probe.
    var alarm: AlarmID?
}

/// One asking that outlives its lookup: what comes of it is heard for what it says of the source.
struct LingeringQuery: Sendable, Hashable {
    /// Of the lookup.
    let serial: UInt64
    let id: QueryID

    /// How many at once, probes aside, of which a source has one.
    ///
    /// Because: each lasts no longer than a source's own time; more are of a crowd of callers in a
    /// hurry, who tell the same.
    static let most = 64
}

/// Ends one asking of one source; its answer, if one comes still, is ignored.
struct AskEnding: Sendable {
    let end: @Sendable () -> Void
}

/// What a lookup does with what is kept already.
package enum CacheUse: Sendable {
    /// What is kept is good.
    case normal
    /// Somebody has it already; it is to be asked for again.
    case refresh
}

/// What is to be done once the lock is free.
enum StartedAction: Sendable {
    case consult(Question, serial: UInt64)
    case ask(any ResolverBackend, Question, QueryID, by: Monotonic, serial: UInt64)
    case cancel(AskEnding)
    case endHearing(LingeringQuery, at: Monotonic)
    case arm(Monotonic, serial: UInt64)
    case disarm(AlarmID)
    case armFallback(serial: UInt64)
    case keep(Testimony, lifeSeconds: UInt32)
    case forget(Question)
    case keepHot(Question, lifeSeconds: UInt32)
    case tell([Waiter], Result<LookupAnswer, LookupFailure>)
    case emit(ResolverEvent)
}

/// A waiter's handle.
struct WaitingLookup: Stoppable {
    let resolver: Resolver
    let waiter: WaiterID

    func stop() {
        resolver.leave(waiter) { _ in .failure(.cancelled) }
    }
}
