package import HTTPDNSNames

/// Decides when the addresses of a host are dialled, until one connects. Does no I/O.
///
/// Rules:
/// 1. Addresses are dialled in order; the next one when one fails, or after the delay beside it, of
///    whichever family it is. Source: RFC 8305 §5.
/// 2. The first that connects wins; the others are hung up on, and have their turn again if it turns out
///    not to be the one we mean.
/// 3. What is told of an address that is not being dialled is ignored.
package struct AddressRace: Sendable {
    /// Those whose turn is still to come.
    private var pending: [Int]
    /// Those that neither connected nor failed yet, in the order dialled.
    package private(set) var dialled: [Int] = []
    /// When ``timeReached(now:)`` has an address to dial; never, where none is left or nothing is
    /// dialled.
    package private(set) var nextAt = Monotonic.distantFuture
    private let delayMilliseconds: Int64

    /// How long an address has before the next is tried beside it. Source: RFC 8305 §5.
    package static let attemptDelayMilliseconds: Int64 = 250

    /// A race of so many addresses, named by their places.
    package init(
        addressCount: Int, delayMilliseconds: Int64 = AddressRace.attemptDelayMilliseconds
    ) {
        pending = Array(0..<max(0, addressCount))
        self.delayMilliseconds = delayMilliseconds
    }

    /// Whether an address is still to be dialled.
    package var mayDial: Bool { !pending.isEmpty }

    /// Nobody is left to wait for.
    package var isOver: Bool { pending.isEmpty && dialled.isEmpty }

    /// The first address to dial, or the next one: one failed, or is late.
    package mutating func dialNext(now: Monotonic) -> Int? {
        guard let address = pending.first else {
            nextAt = .distantFuture
            return nil
        }
        pending.removeFirst()
        dialled.append(address)
        nextAt =
            pending.isEmpty ? .distantFuture : now.adding(milliseconds: delayMilliseconds)
        return address
    }

    /// The one to dial beside those that are late; nil before its moment.
    package mutating func timeReached(now: Monotonic) -> Int? {
        nextAt <= now ? dialNext(now: now) : nil
    }

    /// An address came to nothing.
    ///
    /// - Returns: false when it was not being dialled.
    package mutating func failed(_ address: Int) -> Bool {
        guard let at = dialled.firstIndex(of: address) else { return false }
        dialled.remove(at: at)
        return true
    }

    /// An address connected.
    ///
    /// - Returns: those to hang up on; nil when it was not being dialled.
    package mutating func connected(_ address: Int) -> [Int]? {
        guard dialled.contains(address) else { return nil }
        let others = dialled.filter { $0 != address }
        dialled = [address]
        pending = others + pending
        nextAt = .distantFuture
        return others
    }
}
