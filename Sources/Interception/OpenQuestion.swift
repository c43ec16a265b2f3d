internal import HTTPDNSPlatform

/// A question that somebody waits with: it is answered once, or let go.
///
/// Rules:
/// 1. The first answer counts; what is said after it is not heard.
/// 2. Let go by the last who could have answered it, it says so: a handler that an application drops,
///    or a path that forgets it, would leave a task waiting for its last time-out.
///
/// Not to be let go under a lock: what it says is said there and then.
final class OpenQuestion<Answer>: Sendable {
    private let hear: Locked<(@Sendable (Answer) -> Void)?>
    private let whenLetGo: @Sendable () -> Void

    /// - Parameters:
    ///   - hear: gets the answer, on the thread of whoever gives it.
    ///   - whenLetGo: called in the place of it, once there is nobody left to give one.
    init(
        _ hear: @escaping @Sendable (Answer) -> Void, whenLetGo: @escaping @Sendable () -> Void
    ) {
        self.hear = Locked(hear)
        self.whenLetGo = whenLetGo
    }

    deinit { if take() != nil { whenLetGo() } }

    /// - Parameter answer: made only if it is the first.
    func answer(_ answer: () -> Answer) {
        if let hear = take() { hear(answer()) }
    }

    private func take() -> (@Sendable (Answer) -> Void)? {
        hear.withLock { hear in
            defer { hear = nil }
            return hear
        }
    }
}
