package import HTTPDNSNames

/// Which addresses of a run get a handshake.
///
/// Rules:
/// 1. Each address is met once, whoever gives it.
/// 2. Sources that are judged share some slots, and none of them has all; those that are trusted have
///    slots of their own: a liar that answers first, and much, keeps nobody else's addresses from being
///    looked at.
/// 3. An address that was left out is taken when somebody with a slot left gives it.
/// 4. Addresses that are not dialled cost no slot.
package struct PeerSlots: Sendable {
    /// Who gives an address.
    package enum Giver: Sendable, Hashable {
        case trusted
        /// By its server, else its label.
        case judged(String)
    }

    private var met: Set<IPAddress> = []
    private var missed: Set<IPAddress> = []
    private var used: [Giver: Int] = [:]
    private var usedByJudged = 0

    package init() {}

    /// Whether the address is to be met now.
    package mutating func take(_ address: IPAddress, from giver: Giver) -> Bool {
        guard !met.contains(address) else { return false }
        guard hasRoom(for: giver) else {
            missed.insert(address)
            return false
        }
        met.insert(address)
        missed.remove(address)
        used[giver, default: 0] += 1
        if giver != .trusted { usedByJudged += 1 }
        return true
    }

    /// Addresses that nobody had a slot for.
    package var leftOut: Int { missed.count }

    private func hasRoom(for giver: Giver) -> Bool {
        let own = used[giver, default: 0]
        guard giver != .trusted else { return own < PeerSlots.mostTrusted }
        return own < PeerSlots.mostOfOne && usedByJudged < PeerSlots.mostJudged
    }

    /// Because: a name with more has a content network behind it, and all of it is alike.
    package static let mostTrusted = 16
    /// Because: honest answers have eight of each family at most.
    package static let mostOfOne = 16
    /// Because: two that lie in different ways leave room for one more; each costs a thread.
    package static let mostJudged = 32
}
