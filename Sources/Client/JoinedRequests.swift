internal import HTTPDNSCaching
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Drives one ``JoinTable``: equal requests of one client, of which one is sent. Nobody waits for
/// longer than its patience, whatever becomes of the one that leads.
package final class JoinedRequests: Sendable {
    private struct Waiter: Sendable {
        let tell: @Sendable (JoinTable.Word) -> Void
        var alarm: AlarmID?
    }

    private struct State: Sendable {
        var table = JoinTable()
        var waiting: [JoinTable.Member: Waiter] = [:]
    }

    private let state = Locked(State())
    private let patienceMilliseconds: Int64
    private let clock: any MonotonicSource
    private let alarms: any AlarmSource

    init(
        patienceMilliseconds: Int64, clock: any MonotonicSource, alarms: any AlarmSource
    ) {
        self.patienceMilliseconds = patienceMilliseconds
        self.clock = clock
        self.alarms = alarms
    }

    /// Nobody is under way.
    package var isEmpty: Bool { state.withLock { $0.table.isEmpty && $0.waiting.isEmpty } }

    /// How many wait for another.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// A place among equal requests, to be taken before what is kept is looked for; nil for a
    /// request that goes alone.
    func enter(_ key: JoinTable.Key) -> JoinPlace? {
        guard patienceMilliseconds > 0 else { return nil }
        let now = clock.now()
        return state.withLock { $0.table.enter(key, now: now) }.map { JoinPlace($0, of: self) }
    }

    /// Who comes from now on waits for nobody who came before: what is kept of these URLs, or of
    /// all where it is nil, is out of date.
    func close(_ urls: [CacheKey]?) { state.withLock { $0.table.closed(urls) } }

    /// - Parameter tell: called once, unless the member leaves before: at once, or when the one
    ///   that leads is done, on its thread.
    fileprivate func wait(
        _ member: JoinTable.Member, atMostMilliseconds most: Int64,
        _ tell: @escaping @Sendable (JoinTable.Word) -> Void
    ) {
        let word = state.withLock { state in
            let word = state.table.wait(member)
            if word == nil { state.waiting[member] = Waiter(tell: tell) }
            return word
        }
        if let word { return tell(word) }
        let end = clock.now().adding(milliseconds: min(most, patienceMilliseconds))
        let alarm = alarms.schedule(at: end) { [weak self] in
            self?.step { $0.outwaited(member) }
        }
        let isLate = state.withLock { state in
            state.waiting[member]?.alarm = alarm
            return state.waiting[member] == nil
        }
        if isLate { alarms.cancel(alarm) }
    }

    fileprivate func settle(_ member: JoinTable.Member) { step { $0.settled(member) } }

    fileprivate func release(_ member: JoinTable.Member, isOfNoUse: Bool) {
        let until = isOfNoUse ? clock.now().adding(milliseconds: Self.aloneMilliseconds) : nil
        step { $0.released(member, aloneUntil: until) }
    }

    fileprivate func leave(_ member: JoinTable.Member) {
        let waiter = state.withLock { $0.waiting.removeValue(forKey: member) }
        if let alarm = waiter?.alarm { alarms.cancel(alarm) }
        step { $0.left(member) }
    }

    private func step(_ event: (inout JoinTable) -> [JoinTable.Action]) {
        let told = state.withLock { state in
            event(&state.table).compactMap { action in
                state.waiting.removeValue(forKey: action.member).map { ($0, action.word) }
            }
        }
        for (waiter, word) in told {
            if let alarm = waiter.alarm { alarms.cancel(alarm) }
            waiter.tell(word)
        }
    }

    /// How long the requests for a URL go alone whose answer others could not use.
    ///
    /// Because: as long as Varnish remembers the same ("hit-for-miss", `builtin.vcl`): a page
    /// changes its mind seldom, and one request in two minutes that waits in vain is nothing.
    private static let aloneMilliseconds: Int64 = 120_000
}

/// The place of one request among its equals; it is left when it is let go of. All calls are legal
/// at any moment, from any thread; those that come too late do nothing.
final class JoinPlace: Sendable {
    private let member: JoinTable.Member
    private let joined: JoinedRequests

    fileprivate init(_ member: JoinTable.Member, of joined: JoinedRequests) {
        self.member = member
        self.joined = joined
    }

    deinit { joined.leave(member) }

    /// Nothing kept answers: says what to do, at once or later.
    func wait(
        atMostMilliseconds most: Int64, _ tell: @escaping @Sendable (JoinTable.Word) -> Void
    ) { joined.wait(member, atMostMilliseconds: most, tell) }

    /// What it brought is kept, for whoever waits.
    func settle() { joined.settle(member) }

    /// It brings nothing, or nothing that others can use.
    func release(isOfNoUse: Bool) { joined.release(member, isOfNoUse: isOfNoUse) }

    /// It is answered, or given up.
    func leave() { joined.leave(member) }
}
