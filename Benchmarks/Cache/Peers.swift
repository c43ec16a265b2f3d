import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire
import Synchronization

/// What is looked up.
func hostNames(_ count: Int) throws -> [HostName] {
    try (0..<count).map { number in
        let digits = String(number)
        let zeros = String(repeating: "0", count: max(0, 5 - digits.count))
        return try HostName("host-\(zeros)\(digits).a.test")
    }
}

func answer(_ name: HostName, _ number: Int) -> Testimony {
    let question = Question(name: name, type: .a)
    let record = ResourceRecord(
        name: WireName(name), type: .a, ttlSeconds: 3_600,
        data: .address(
            IPAddress(family: .ipv4, high: 0, low: UInt64(0x0A00_0000 + number))))
    return Testimony(
        question: question, code: .noError, answers: [record],
        source: Testimony.Source(resolver: "udp://127.0.0.1:53", transport: .udp))
}

/// A cache that gives a name's first address.
protocol MeasuredCache: Sendable {
    func store(_ name: HostName, _ number: Int)
    func firstAddress(_ name: HostName) -> UInt64?
}

/// Ours: the short way, with a coarse clock, as `Resolver.cachedAddresses` goes it.
final class OurCache: MeasuredCache {
    private let cache: SharedAnswerCache
    private let clock = SystemMonotonicClock()
    private let scope = LookupScope(number: 0)

    init(names: Int) {
        cache = SharedAnswerCache(
            limits: CacheLimits(entries: max(names * 2, 10_000), octets: 1 << 30))
    }

    func store(_ name: HostName, _ number: Int) {
        let key = LookupKey(question: Question(name: name, type: .a), scope: scope)
        _ = cache.store(answer(name, number), for: key, lifeSeconds: 3_600, now: clock.now())
    }

    @inline(never)
    func firstAddress(_ name: HostName) -> UInt64? {
        let found = cache.addresses(
            of: name, .ipv4, in: scope, now: clock.coarseNow(), staleness: 0)
        return found.isEmpty ? nil : found[0].low
    }

    /// The long way: the whole testimony.
    func wholeAnswer(_ name: HostName) -> UInt64? {
        let key = LookupKey(question: Question(name: name, type: .a), scope: scope)
        guard let hit = cache.find(key, now: clock.coarseNow(), staleness: 0),
            case .address(let address)? = hit.testimony.answers.first?.data
        else { return nil }
        return address.low
    }

    var statistics: CacheStatistics { cache.statistics }
}

/// A dictionary of names behind a mutex, which is what one would write first.
final class DictionaryCache: MeasuredCache {
    struct Entry: Sendable {
        let addresses: [IPAddress]
        let expires: Int64
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let clock = SystemMonotonicClock()

    func store(_ name: HostName, _ number: Int) {
        let address = IPAddress(family: .ipv4, high: 0, low: UInt64(0x0A00_0000 + number))
        let entry = Entry(
            addresses: [address], expires: clock.now().adding(seconds: 3_600).nanoseconds)
        entries.withLock { $0[name.text] = entry }
    }

    @inline(never)
    func firstAddress(_ name: HostName) -> UInt64? { addresses(name)?.first?.low }

    @inline(never)
    private func addresses(_ name: HostName) -> [IPAddress]? {
        let now = clock.now().nanoseconds
        return entries.withLock { entries in
            guard let entry = entries[name.text], entry.expires > now else { return nil }
            return entry.addresses
        }
    }
}
