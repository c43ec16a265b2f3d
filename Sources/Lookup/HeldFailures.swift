package import HTTPDNSNames
internal import HTTPDNSWire

/// Remembers for a few seconds that a question could not be answered, so that a caller who asks again
/// and again does not send a storm of questions into what is broken already.
///
/// Rules:
/// 1. Held are server failures (SERVFAIL, REFUSED and the like) and lookups that found nobody; never
///    what says something about the name ("no such name", "no data": that is the cache's), and never
///    what is the caller's or ours (cancelled, no source, over quota).
/// 2. The first failure of a key is held for a second, each one that follows twice as long, five
///    seconds at most. Source: RFC 9520 §3.2 (at least 1 s, at most 5 min), RFC 2308 §7 (at most
///    5 min); five seconds because a person who tries again should not meet an old failure.
/// 3. What is held is handed out as it was: a failure stays a failure, never "no such name".
/// 4. A success, and another network, end it at once.
/// 5. Bounded: when full, the one whose time ends first gives way.
package struct HeldFailures<Key: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        var failure: HeldFailure
        var until: Monotonic
        var heldMilliseconds: Int64
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]

    /// - Parameter capacity: keys; at least 1.
    package init(capacity: Int = HeldFailureLimits.defaultCapacity) {
        self.capacity = max(1, capacity)
    }

    /// Keys that something is remembered about.
    package var count: Int { entries.count }

    /// What is held for a key; nil when the question may be asked.
    package func held(for key: Key, now: Monotonic) -> HeldFailure? {
        guard let entry = entries[key], now < entry.until else { return nil }
        return entry.failure
    }

    /// Holds a failure, if it is one of those that are held (rule 1).
    ///
    /// - Returns: until when; nil when it is not held.
    @discardableResult
    package mutating func hold(_ failure: HeldFailure, for key: Key, now: Monotonic) -> Monotonic? {
        guard failure.isHeld else { return nil }
        let limits = HeldFailureLimits.self
        var milliseconds = limits.firstMilliseconds
        if let old = entries[key],
            now < old.until.adding(milliseconds: limits.longestMilliseconds)
        {
            milliseconds = min(old.heldMilliseconds * 2, limits.longestMilliseconds)
        }
        if entries[key] == nil { makeRoom(now: now) }
        let until = now.adding(milliseconds: milliseconds)
        entries[key] = Entry(failure: failure, until: until, heldMilliseconds: milliseconds)
        return until
    }

    /// The question was answered.
    package mutating func release(_ key: Key) { entries[key] = nil }

    package mutating func removeAll() { entries = [:] }

    private mutating func makeRoom(now: Monotonic) {
        guard entries.count >= capacity else { return }
        entries = entries.filter { now < $0.value.until }
        while entries.count >= capacity {
            guard let first = entries.min(by: { $0.value.until < $1.value.until }) else { return }
            entries[first.key] = nil
        }
    }
}

/// What came of a lookup that could not be answered.
package enum HeldFailure: Sendable, Hashable {
    case failed(LookupFailure)
    /// The server answered, with a failure.
    case answered(Testimony)
}

/// How long failures are held, and how many.
package enum HeldFailureLimits {
    /// Source: RFC 9520 §3.2: at least one second.
    package static let firstMilliseconds: Int64 = 1_000
    /// Because: a person who tries again should not meet an old failure; see RFC 9520 §3.2.
    package static let longestMilliseconds: Int64 = 5_000
    /// Because: a storm is about few names; at 1 KiB each this bounds the memory near 1 MB.
    package static let defaultCapacity = 1_000
}

extension HeldFailure {
    fileprivate var isHeld: Bool {
        switch self {
        case .answered(let testimony):
            testimony.code != .noError && testimony.code != .noSuchName
        case .failed(.timedOut): true
        case .failed(.exhausted(_, let attempts)): attempts.contains { $0.reason.isHeld }
        case .failed(.noSource), .failed(.cancelled): false
        }
    }
}

extension LookupAttempt.Reason {
    /// Somebody was asked, and could not answer.
    fileprivate var isHeld: Bool {
        switch self {
        case .answered(let code): code != .noError && code != .noSuchName
        case .emptyAnswer: false
        case .failed(let failure): failure.countsAgainstSource
        }
    }
}
