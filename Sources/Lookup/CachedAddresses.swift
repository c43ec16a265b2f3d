public import HTTPDNSNames

/// The addresses that a cache holds for a name, without memory of their own.
///
/// The first eight stand in the value itself, so that neither finding nor reading them allocates. Where
/// there are more, ``isComplete`` is false, and all of them come with the whole answer:
/// `Resolver.cachedHost(for:)`.
public struct CachedAddresses: Sendable, RandomAccessCollection {
    /// Seconds they may still be used, at least 1.
    public private(set) var secondsLeft: UInt32
    /// Their life is over, and a new answer is being asked for.
    public private(set) var isStale: Bool
    /// The caller is the one who should ask again, in the background.
    package private(set) var wantsRefresh: Bool
    /// False when there are more than ``capacity``.
    public private(set) var isComplete = true

    /// Because: nearly all names have fewer, and the value stays near 150 octets.
    public static let capacity = 8

    private typealias Halves = (UInt64, UInt64)
    private typealias Storage = (Halves, Halves, Halves, Halves, Halves, Halves, Halves, Halves)

    private var storage: Storage = (
        (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)
    )
    /// One bit an address, set for IPv6.
    private var sixes: UInt8 = 0
    private var held: UInt8 = 0

    init(secondsLeft: UInt32, isStale: Bool, wantsRefresh: Bool) {
        self.secondsLeft = secondsLeft
        self.isStale = isStale
        self.wantsRefresh = wantsRefresh
    }

    /// 0.
    /// Addresses that are known without a cache, in their order.
    package init(_ addresses: [IPAddress], secondsLeft: UInt32) {
        self.init(secondsLeft: secondsLeft, isStale: false, wantsRefresh: false)
        for address in addresses {
            append(address.family, high: address.high, low: address.low)
        }
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// How many there are in the value.
    public var endIndex: Int { Int(held) }

    /// The address at a position, in the order received.
    public subscript(position: Int) -> IPAddress {
        precondition(position >= 0 && position < Int(held), "no such address")
        let (high, low) = withUnsafeBytes(of: storage) {
            $0.load(fromByteOffset: position * MemoryLayout<Halves>.stride, as: Halves.self)
        }
        return IPAddress(
            family: sixes >> UInt8(position) & 1 == 1 ? .ipv6 : .ipv4, high: high, low: low)
    }

    /// Adds an address while there is room; remembers that there were more.
    @inline(__always)
    mutating func append(_ family: IPAddress.Family, high: UInt64, low: UInt64) {
        guard held < UInt8(CachedAddresses.capacity) else {
            isComplete = false
            return
        }
        withUnsafeMutableBytes(of: &storage) {
            $0.storeBytes(
                of: (high, low), toByteOffset: Int(held) * MemoryLayout<Halves>.stride,
                as: Halves.self)
        }
        if family == .ipv6 { sixes |= 1 << held }
        held += 1
    }

    mutating func markIncomplete() { isComplete = false }

    /// One address of each in turn, the sixes first; both must be known for that.
    ///
    /// Source: RFC 8305 §4.
    package init(joining sixes: CachedAddresses, _ fours: CachedAddresses) {
        self.init(
            secondsLeft: Swift.min(sixes.secondsLeft, fours.secondsLeft),
            isStale: sixes.isStale || fours.isStale,
            wantsRefresh: sixes.wantsRefresh || fours.wantsRefresh)
        isComplete = sixes.isComplete && fours.isComplete
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
