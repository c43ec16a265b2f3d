internal import HTTPDNSNames

/// Which handshakes are under way, which wait for a thread, and who waits for them. Does no I/O.
///
/// Rules:
/// 1. One handshake for one key: who asks for the same joins it.
/// 2. What nobody waits for any longer leaves the queue, and is not ``isWanted(_:)``: a page that asks
///    for a thousand dead addresses and goes keeps no thread from others.
/// 3. Of one host ``maximumOfHost`` run at once: a name with many silent addresses takes no more. Others
///    overtake the rest of them; all run in the order they came.
/// 4. Above ``maximumWaiting`` the queue is full: who asks is told so at once.
struct PeekQueue: Sendable {
    typealias Key = ProofCache.Key
    typealias Done = @Sendable (Bool) -> Void

    /// One who waits for one handshake.
    struct Ticket: Sendable, Hashable {
        let key: Key
        let number: UInt64
    }

    private var waiters: [Key: [UInt64: Done]] = [:]
    private var queue: [Key] = []
    private var running: [Key: Host] = [:]
    private var ofHost: [Host: Int] = [:]
    private var threads = 0
    private var lastNumber: UInt64 = 0

    /// Nobody waits, and nothing runs.
    var isEmpty: Bool { waiters.isEmpty && queue.isEmpty && running.isEmpty && ofHost.isEmpty }
    var isFull: Bool { queue.count >= PeekQueue.maximumWaiting }
    var runningCount: Int { running.count }

    /// - Returns: what to leave by, and whether another thread is to serve.
    mutating func join(_ key: Key, _ done: @escaping Done) -> (Ticket, needsThread: Bool) {
        lastNumber += 1
        let isKnown = waiters[key] != nil || running[key] != nil
        waiters[key, default: [:]][lastNumber] = done
        if !isKnown { queue.append(key) }
        let needsThread =
            !isKnown && mayRun(key) && threads < PeekQueue.maximumThreads
        if needsThread { threads += 1 }
        return (Ticket(key: key, number: lastNumber), needsThread)
    }

    /// Of a ticket whose handshake has ended nothing is known any longer.
    mutating func leave(_ ticket: Ticket) {
        guard waiters[ticket.key]?.removeValue(forKey: ticket.number) != nil,
            waiters[ticket.key]?.isEmpty == true
        else { return }
        waiters[ticket.key] = nil
        queue.removeAll { $0 == ticket.key }
    }

    func isWanted(_ key: Key) -> Bool { waiters[key] != nil }

    /// What the thread that asks is to do next; nil: it is not needed any more.
    mutating func next() -> Key? {
        guard let at = queue.firstIndex(where: { mayRun($0) }) else {
            threads -= 1
            return nil
        }
        let key = queue.remove(at: at)
        running[key] = key.host
        ofHost[key.host, default: 0] += 1
        return key
    }

    /// The handshake is over.
    ///
    /// - Parameter wasStopped: it was broken off because nobody waited. Who has joined since has it made
    ///   anew.
    /// - Returns: whom to tell.
    mutating func ended(_ key: Key, wasStopped: Bool) -> [Done] {
        guard let host = running.removeValue(forKey: key) else { return [] }
        let left = (ofHost[host] ?? 1) - 1
        ofHost[host] = left > 0 ? left : nil
        guard wasStopped else {
            return waiters.removeValue(forKey: key)?.sorted { $0.key < $1.key }.map(\.value) ?? []
        }
        if waiters[key] != nil { queue.append(key) }
        return []
    }

    private func mayRun(_ key: Key) -> Bool {
        (ofHost[key.host] ?? 0) < PeekQueue.maximumOfHost
    }

    /// Because: handshakes with dead addresses last seconds each, and a page asks for tens of hosts.
    static let maximumThreads = 64
    /// Because: of addresses that begin 250 ms apart the fifth is only needed where four say nothing.
    static let maximumOfHost = 4
    /// Because: eight rounds of all threads would outlast the patience of whoever is behind them.
    static let maximumWaiting = 512
}
