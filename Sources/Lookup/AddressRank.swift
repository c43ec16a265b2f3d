package import HTTPDNSNames

/// Remembers how connections to addresses went, and orders the addresses of a host by it.
///
/// Three groups, one behind the other; nothing is ever left out:
///
///     usable, or never tried  →  failed lately  →  not trusted for this host
///
/// Rules:
/// 1. In the first group the families alternate, beginning with that of the first address, and each
///    family keeps the order of the answer. Source: RFC 8305 §4.
/// 2. Measured addresses change places among themselves when one is clearly faster: by a fifth and by
///    10 ms. What is less is noise; following it would undo the order that the servers' owner chose,
///    and swap the address with every lookup. A family comes first by the same measure.
/// 3. An address that failed rests in the second group for a minute, twice as long each time, up to
///    ten; the one whose rest ends first comes first.
/// 4. An address that failed the proof of identity for a host is last for that host, and for no other:
///    a server may be right for one name and wrong for the next. Marks of a host lapse together, ten
///    minutes after the last one: while somebody forges answers, his addresses must not come back to
///    the front one by one. A connection without that proof does not lift the mark.
/// 5. Bounded: when full, the quarter that was told of longest ago is forgotten.
package struct AddressRank: Sendable {
    package typealias Outcome = AddressOutcome

    fileprivate struct Memory: Sendable {
        var connectTime = SmoothedTime()
        var failures = 0
        var restsUntil = Monotonic.zero
        var lastTold: Monotonic
    }

    private struct Distrust: Sendable {
        var addresses: Set<IPAddress> = []
        var until: Monotonic
    }

    /// Because: an app speaks to tens of hosts with a few addresses each; this bounds the memory near
    /// 200 KB.
    package static let defaultCapacity = 1_024
    /// The first rest of an address that failed.
    ///
    /// Because: a server that is restarted is back by then, and trying it costs a connection attempt.
    static let firstRestMilliseconds: Int64 = 60_000
    /// The longest rest, and how long a mark of distrust holds.
    ///
    /// Because: long enough that nobody waits often for a dead address, short enough that one that
    /// came back is soon used again.
    static let longestRestMilliseconds: Int64 = 600_000
    /// Because: the least difference that somebody could notice; less is jitter.
    static let clearlyFasterMilliseconds = 10.0

    private let capacity: Int
    private var memories: [IPAddress: Memory] = [:]
    private var distrusted: [Host: Distrust] = [:]

    /// - Parameter capacity: addresses remembered, and hosts with marks; at least 4.
    package init(capacity: Int = AddressRank.defaultCapacity) {
        self.capacity = max(4, capacity)
    }

    /// Addresses that something is known about.
    package var count: Int { memories.count }

    /// On another network every address is reached another way: all is forgotten.
    package mutating func networkChanged() { self = AddressRank(capacity: capacity) }

    package mutating func report(
        _ address: IPAddress, for host: Host, outcome: Outcome, now: Monotonic
    ) {
        if outcome == .untrusted {
            distrust(address, for: host, now: now)
            return
        }
        if memories[address] == nil { makeRoom() }
        var memory = memories[address] ?? Memory(lastTold: now)
        memory.lastTold = now
        switch outcome {
        case .connected(let milliseconds):
            memory.connectTime.add(milliseconds: milliseconds)
            memory.failures = 0
            memory.restsUntil = .zero
        case .unreachable, .timedOut: memory.fail(now: now)
        case .untrusted: break
        }
        memories[address] = memory
    }

    /// The same addresses, each as often as given, the best first.
    package func ordered(
        _ addresses: [IPAddress], for host: Host, now: Monotonic
    ) -> [IPAddress] {
        let marked = distrusted[host].flatMap { now < $0.until ? $0.addresses : nil } ?? []
        var usable: [IPAddress] = []
        var resting: [(address: IPAddress, until: Monotonic)] = []
        var untrusted: [IPAddress] = []
        for address in addresses {
            if marked.contains(address) {
                untrusted.append(address)
            } else if let until = memories[address]?.restsUntil, now < until {
                resting.append((address, until))
            } else {
                usable.append(address)
            }
        }
        // The sort keeps the order of equals. Source: SE-0372.
        resting.sort { $0.until < $1.until }
        return interleaved(usable) + resting.map(\.address) + untrusted
    }

    private func interleaved(_ addresses: [IPAddress]) -> [IPAddress] {
        guard let leading = addresses.first?.family else { return [] }
        var first = byTime(addresses.filter { $0.family == leading })
        var second = byTime(addresses.filter { $0.family != leading })
        if let one = first.first, let other = second.first, isClearlyFaster(other, than: one) {
            swap(&first, &second)
        }
        var joined: [IPAddress] = []
        joined.reserveCapacity(addresses.count)
        for position in 0..<max(first.count, second.count) {
            if position < first.count { joined.append(first[position]) }
            if position < second.count { joined.append(second[position]) }
        }
        return joined
    }

    /// Measured addresses change places among themselves; the others keep theirs.
    ///
    /// "Clearly faster" is no total order (a beats b and b beats c by less than the measure, a beats c
    /// by more), so each one moves ahead only as far as it beats its neighbours.
    private func byTime(_ addresses: [IPAddress]) -> [IPAddress] {
        let places = addresses.indices.filter { time(addresses[$0]) != nil }
        var measured = places.map { addresses[$0] }
        for start in measured.indices.dropFirst() {
            var at = start
            while at > 0, isClearlyFaster(measured[at], than: measured[at - 1]) {
                measured.swapAt(at, at - 1)
                at -= 1
            }
        }
        var ordered = addresses
        for (place, address) in zip(places, measured) { ordered[place] = address }
        return ordered
    }

    private func isClearlyFaster(_ one: IPAddress, than other: IPAddress) -> Bool {
        guard let one = time(one), let other = time(other) else { return false }
        return one + max(AddressRank.clearlyFasterMilliseconds, other / 5) <= other
    }

    private func time(_ address: IPAddress) -> Double? {
        memories[address]?.connectTime.milliseconds
    }

    private mutating func distrust(_ address: IPAddress, for host: Host, now: Monotonic) {
        if let known = distrusted[host], now >= known.until { distrusted[host] = nil }
        if distrusted[host] == nil, distrusted.count >= capacity {
            let oldest = distrusted.min { $0.value.until < $1.value.until }
            if let oldest { distrusted[oldest.key] = nil }
        }
        var known = distrusted[host] ?? Distrust(until: now)
        // Because: one host has tens of addresses at most; more marks are somebody's flood.
        if known.addresses.count < 256 { known.addresses.insert(address) }
        known.until = now.adding(milliseconds: AddressRank.longestRestMilliseconds)
        distrusted[host] = known
    }

    private mutating func makeRoom() {
        guard memories.count >= capacity else { return }
        let old = memories.sorted { $0.value.lastTold < $1.value.lastTold }.prefix(capacity / 4)
        for (address, _) in old { memories[address] = nil }
    }
}

extension AddressRank.Memory {
    fileprivate mutating func fail(now: Monotonic) {
        // A failure during the rest is another attempt of the same connection race: no news.
        guard now >= restsUntil else { return }
        // A failure long after the last one is not the same trouble.
        let forgiven = restsUntil.adding(milliseconds: AddressRank.longestRestMilliseconds)
        if failures > 0, now >= forgiven { failures = 0 }
        let doubled = AddressRank.firstRestMilliseconds << Int64(min(failures, 4))
        failures += 1
        restsUntil = now.adding(milliseconds: min(doubled, AddressRank.longestRestMilliseconds))
    }
}

/// What came of one attempt to connect to an address.
public enum AddressOutcome: Sendable, Hashable {
    case connected(milliseconds: Int64)
    /// Refused, reset, no route.
    case unreachable
    case timedOut
    /// The peer could not prove that it is the host.
    case untrusted

    /// True when the outcome hints that the answer itself is out of date or forged, so that the host
    /// should be looked up anew.
    package var wantsRefresh: Bool {
        switch self {
        case .connected: false
        case .unreachable, .timedOut, .untrusted: true
        }
    }
}
