package import HTTPDNSExchange
package import HTTPDNSNames

/// Decides which of several equal requests goes to the origin, and what becomes of the others. Does
/// no I/O. Source: RFC 9111 §4, the last but one paragraph: "collapse requests".
///
///     enter ─▶ looking ─ nothing kept ─▶ leading ─ settled ──▶ the others look again
///                 │                         │  └── released ─▶ the others go alone
///                 │                         └───── left ─────▶ the first of the others leads
///                 └───── somebody leads ─▶ waiting ─ outwaited ─▶ goes alone
///
/// Rules:
/// 1. Equal are requests for one URL, with the same fields, under the same trust policy.
/// 2. A member enters before it looks for what is kept. So one that saw nothing kept either finds
///    the leader still under way, or learns how it ended.
/// 3. What one brought that others cannot use is a sign that the next will, too: requests for that
///    URL do not wait for each other for a while.
/// 4. Who asks after a change that succeeded does not wait for one who asked before it; that what
///    such a one brings is not kept is for ``ChangeTable`` to say. Source: RFC 9111 §4.4.
/// 5. A word for a member that has left is ignored, and so is one from a member that does not lead.
package struct JoinTable: Sendable {
    /// What makes requests equal.
    package struct Key: Sendable, Hashable {
        let url: CacheKey
        let policy: [UInt8]
        /// As sent: `Vary` is known only with the answer.
        let fields: HTTPFields

        package init(_ url: CacheKey, policy: [UInt8], fields: HTTPFields) {
            self.url = url
            self.policy = policy
            self.fields = fields
        }
    }

    /// One request among its equals.
    package struct Member: Sendable, Hashable {
        let group: UInt64
        let number: UInt64
    }

    /// What a member does now.
    package enum Word: Sendable, Hashable {
        /// Sends its request; the others wait for it.
        case lead
        /// Looks once more for what is kept, and then goes alone.
        case lookAgain
        /// Sends its request; nobody waits for it.
        case goAlone
    }

    package struct Action: Sendable, Hashable {
        package let member: Member
        package let word: Word
    }

    private struct Group {
        let key: Key
        var members: Set<UInt64> = []
        var leader: UInt64?
        /// In the order in which they began to wait.
        var waiting: [UInt64] = []
        /// What whoever comes from looking is told; nil while one may still lead.
        var end: Word?
    }

    private var groups: [UInt64: Group] = [:]
    /// Those that can be entered.
    private var open: [Key: UInt64] = [:]
    /// By the hash of a URL: until when its requests go alone. Two URLs of one hash do no harm.
    private var alone: [Int: Monotonic] = [:]
    private var lastNumber: UInt64 = 0

    package init() {}

    /// Nobody is in it.
    package var isEmpty: Bool { groups.isEmpty && open.isEmpty }

    /// Takes a member in, before it looks; nil for one that goes alone in any case.
    package mutating func enter(_ key: Key, now: Monotonic) -> Member? {
        guard alone[key.url.hashValue].map({ $0 <= now }) ?? true else { return nil }
        lastNumber &+= 1
        let group = open[key] ?? lastNumber
        open[key] = group
        groups[group, default: Group(key: key)].members.insert(lastNumber)
        return Member(group: group, number: lastNumber)
    }

    /// Nothing kept answered a member: what it does; nil: it waits.
    package mutating func wait(_ member: Member) -> Word? {
        guard var group = groups[member.group], group.members.contains(member.number) else {
            return .goAlone
        }
        if let end = group.end { return end }
        let isLeading = group.leader == nil || group.leader == member.number
        if isLeading { group.leader = member.number } else { group.waiting.append(member.number) }
        groups[member.group] = group
        return isLeading ? .lead : nil
    }

    /// What the leader brought is kept.
    package mutating func settled(_ leader: Member) -> [Action] { end(leader, .lookAgain) }

    /// What the leader brought is not kept, or was not brought.
    ///
    /// - Parameter aloneUntil: where others can make no use of such answers, until when the URL's
    ///   requests go alone.
    package mutating func released(_ leader: Member, aloneUntil: Monotonic?) -> [Action] {
        if let aloneUntil, let group = groups[leader.group], group.leader == leader.number,
            group.end == nil
        {
            if alone.count >= JoinTable.mostAlone { alone.removeAll() }
            alone[group.key.url.hashValue] = aloneUntil
        }
        return end(leader, .goAlone)
    }

    /// What was asked for until now is out of date, under these URLs or, for nil, under any.
    package mutating func closed(_ urls: [CacheKey]?) {
        guard let urls else { return open.removeAll() }
        for key in open.keys where urls.contains(key.url) { open[key] = nil }
    }

    /// A member has waited for long enough.
    package mutating func outwaited(_ member: Member) -> [Action] {
        guard let place = groups[member.group]?.waiting.firstIndex(of: member.number) else {
            return []
        }
        groups[member.group]?.waiting.remove(at: place)
        return [Action(member: member, word: .goAlone)]
    }

    /// A member is answered, or was given up.
    package mutating func left(_ member: Member) -> [Action] {
        guard var group = groups[member.group], group.members.remove(member.number) != nil else {
            return []
        }
        group.waiting.removeAll { $0 == member.number }
        var next: UInt64?
        if group.leader == member.number, group.end == nil {
            next = group.waiting.isEmpty ? nil : group.waiting.removeFirst()
            group.leader = next
        }
        groups[member.group] = group.members.isEmpty ? nil : group
        if group.members.isEmpty, open[group.key] == member.group { open[group.key] = nil }
        return next.map {
            [Action(member: Member(group: member.group, number: $0), word: .lead)]
        } ?? []
    }

    private mutating func end(_ leader: Member, _ word: Word) -> [Action] {
        guard var group = groups[leader.group], group.leader == leader.number, group.end == nil
        else { return [] }
        defer { groups[leader.group] = group }
        if open[group.key] == leader.group { open[group.key] = nil }
        group.end = word
        let waiting = group.waiting
        group.waiting = []
        return waiting.map {
            Action(member: Member(group: leader.group, number: $0), word: word)
        }
    }

    /// Because: 16 KB; where there are more, a second request waits for a first once more.
    private static let mostAlone = 1_024
}
