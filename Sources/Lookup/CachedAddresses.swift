public import HTTPDNSNames

/// The addresses that a cache holds for a name, without memory of their own.
///
/// Empty either because the cache knows that there is none, or because it knows nothing:
/// ``isKnown`` says which. Not an optional, because unwrapping one copies the whole value.
///
/// The first eight stand in the value itself, so that neither finding nor reading them allocates. Where
/// there are more, ``isComplete`` is false, and all of them come with the whole answer:
/// `Resolver.cachedHost(for:)`.
@frozen
public struct CachedAddresses: Sendable, RandomAccessCollection {
    /// The cache holds an answer; when false, nothing else here says anything.
    @inlinable public var isKnown: Bool { marks & 8 != 0 }
    /// Seconds they may still be used, at least 1.
    @inlinable public var secondsLeft: UInt32 { seconds }
    /// Their life is over, and a new answer is being asked for.
    @inlinable public var isStale: Bool { marks & 1 != 0 }
    /// The caller is the one who should ask again, in the background.
    @inlinable package var wantsRefresh: Bool { marks & 2 != 0 }
    /// False when there are more than ``capacity``.
    @inlinable public var isComplete: Bool { marks & 4 == 0 }

    @usableFromInline var seconds: UInt32
    /// The lowest bits: stale, wants a refresh, is incomplete, is known.
    @usableFromInline var marks: UInt8
    /// One bit an address, set for IPv6.
    @usableFromInline var sixes: UInt8
    @usableFromInline var held: UInt8

    /// The high half of an address, then the low one: a vector, because a value of few parts is handed
    /// on in registers, and one of many is copied through memory each time.
    @usableFromInline typealias Halves = SIMD2<UInt64>

    @usableFromInline var storage: (Halves, Halves, Halves, Halves, Halves, Halves, Halves, Halves)

    /// Because: nearly all names have fewer, and the value stays below 150 octets.
    public static let capacity = 8

    /// Nothing known.
    @inlinable
    package init() {
        seconds = 0
        marks = 0
        sixes = 0
        held = 0
        let none = Halves.zero
        storage = (none, none, none, none, none, none, none, none)
    }

    /// Addresses that are known without a cache, in their order.
    package init(_ addresses: [IPAddress], secondsLeft: UInt32) {
        self.init()
        begin(secondsLeft: secondsLeft, isStale: false, wantsRefresh: false)
        for address in addresses {
            append(address.family, high: address.high, low: address.low)
        }
    }

    /// 0.
    @inlinable public var startIndex: Int { 0 }
    /// How many there are in the value.
    @inlinable public var endIndex: Int { Int(held) }
    @inlinable public var count: Int { Int(held) }
    @inlinable public var isEmpty: Bool { held == 0 }

    /// The address at a position, in the order received.
    @inlinable
    public subscript(position: Int) -> IPAddress {
        precondition(position >= 0 && position < Int(held), "no such address")
        let halves = halves(position)
        return IPAddress(
            family: sixes >> UInt8(position) & 1 == 1 ? .ipv6 : .ipv4, high: halves.x, low: halves.y
        )
    }

    @inlinable @inline(__always)
    func halves(_ position: Int) -> Halves {
        switch position {
        case 0: storage.0
        case 1: storage.1
        case 2: storage.2
        case 3: storage.3
        case 4: storage.4
        case 5: storage.5
        case 6: storage.6
        default: storage.7
        }
    }

    @inlinable @inline(__always)
    package mutating func begin(secondsLeft: UInt32, isStale: Bool, wantsRefresh: Bool) {
        seconds = secondsLeft
        marks = 8 | (isStale ? 1 : 0) | (wantsRefresh ? 2 : 0)
    }

    /// Adds an address while there is room; remembers that there were more.
    @inlinable @inline(__always)
    package mutating func append(_ family: IPAddress.Family, high: UInt64, low: UInt64) {
        let address = Halves(high, low)
        switch held {
        case 0: storage.0 = address
        case 1: storage.1 = address
        case 2: storage.2 = address
        case 3: storage.3 = address
        case 4: storage.4 = address
        case 5: storage.5 = address
        case 6: storage.6 = address
        case 7: storage.7 = address
        default:
            markIncomplete()
            return
        }
        if family == .ipv6 { sixes |= 1 << held }
        held += 1
    }

    @inlinable package mutating func markIncomplete() { marks |= 4 }

    /// One address of each in turn, the sixes first; both must be known for that.
    ///
    /// Source: RFC 8305 §4.
    package init(joining sixes: CachedAddresses, _ fours: CachedAddresses) {
        self.init()
        begin(
            secondsLeft: Swift.min(sixes.secondsLeft, fours.secondsLeft),
            isStale: sixes.isStale || fours.isStale,
            wantsRefresh: sixes.wantsRefresh || fours.wantsRefresh)
        if !sixes.isComplete || !fours.isComplete { markIncomplete() }
        for position in 0..<Swift.max(sixes.count, fours.count) {
            append(position, of: sixes)
            append(position, of: fours)
        }
    }

    private mutating func append(_ position: Int, of list: CachedAddresses) {
        guard position < list.count else { return }
        let address = list[position]
        append(address.family, high: address.high, low: address.low)
    }
}
