/// Where answers outlive the process. Does no I/O itself; what implements it has a thread of its own.
///
/// Contract:
/// 1. No method blocks its caller; `find` calls back once, from any thread, possibly before it returns.
/// 2. A store that is broken finds nothing and keeps nothing; it never fails a lookup.
/// 3. What it finds has the life that is left of it by the wall clock, and never more than it had
///    when it was kept: a clock that was set back does not lengthen it.
public protocol AnswerStore: Sendable {
    /// Finds what was kept under a key.
    func find(
        _ question: Question, scope: String, _ found: @escaping @Sendable (StoredAnswer?) -> Void)

    /// Keeps an answer for so many seconds from now; replaces what was kept under that key.
    func keep(_ testimony: Testimony, scope: String, lifeSeconds: UInt32)

    /// Forgets what was kept under a key: a newer answer took its place that is not kept.
    func forget(_ question: Question, scope: String)

    /// Forgets everything.
    func removeAll()

    /// Returns when everything kept before has reached the disk; for the end of a program and tests.
    func flush() async
}

/// An answer that was kept, with what is left of its life.
public struct StoredAnswer: Sendable, Hashable {
    public let testimony: Testimony
    /// Seconds it may still be used; 0 when its life is over and it is good only as a stale answer.
    public let secondsLeft: UInt32
    /// Seconds since its life ended; 0 while it lasts.
    public let secondsOver: UInt32

    public init(testimony: Testimony, secondsLeft: UInt32, secondsOver: UInt32) {
        self.testimony = testimony
        self.secondsLeft = secondsLeft
        self.secondsOver = secondsOver
    }
}
