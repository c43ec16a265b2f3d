internal import CHTTPDNSSystem
package import HTTPDNSNames

/// Where one thread sleeps: until a socket is ready, a point in time, or another thread's ``wake()``.
///
/// Sockets are registered on ``descriptor`` (an epoll descriptor), each with a token that is not 0.
package final class EventPoll: Sendable {
    /// What a socket is ready for.
    package struct Event: Sendable, Hashable {
        package let token: UInt64
        package let isReadable: Bool
        package let isWritable: Bool
    }

    package let descriptor: Int32
    private let signal: WakeSignal

    /// Nil when the process has no descriptor left.
    package init?() {
        let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { return nil }
        guard let signal = WakeSignal() else {
            close(poll)
            return nil
        }
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = 0
        guard epoll_ctl(poll, EPOLL_CTL_ADD, signal.descriptor, &event) == 0 else {
            close(poll)
            return nil
        }
        descriptor = poll
        self.signal = signal
    }

    deinit { close(descriptor) }

    /// Watches a socket for reading, and for writing where wished; `token` is not 0. False when the
    /// system has no room. Only the thread that owns the poll.
    package func watch(_ socket: Int32, token: UInt64, forWriting: Bool) -> Bool {
        var event = Self.interest(token, forWriting)
        return epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event) == 0
    }

    /// Changes what a watched socket is watched for.
    package func rewatch(_ socket: Int32, token: UInt64, forWriting: Bool) {
        var event = Self.interest(token, forWriting)
        epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event)
    }

    private static func interest(_ token: UInt64, _ forWriting: Bool) -> epoll_event {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | (forWriting ? EPOLLOUT.rawValue : 0)
        event.data.u64 = token
        return event
    }

    /// Tells of `socket` under `token` from now on, until it is closed; false when the system refuses.
    package func register(
        _ socket: Int32, token: UInt64, isForWriting: Bool = false
    ) -> Bool {
        var event = epoll_event()
        event.events = isForWriting ? EPOLLOUT.rawValue : EPOLLIN.rawValue
        event.data.u64 = token
        return epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event) == 0
    }

    /// Ends a ``wait(until:now:)`` of another thread, now or the next one. Any thread.
    package func wake() { signal.wake() }

    /// Sleeps until something happens; returns the sockets that are ready, none for a wake-up, a
    /// signal or `deadline`. Only the thread that owns the poll.
    package func wait(until deadline: Monotonic?, now: Monotonic) -> [Event] {
        var milliseconds: Int32 = -1
        if let deadline {
            milliseconds = Int32(clamping: deadline.millisecondsLeft(from: now))
        }
        return withUnsafeTemporaryAllocation(
            of: epoll_event.self, capacity: Self.maximumEvents
        ) { buffer in
            guard let base = buffer.baseAddress else { return [] }
            let count = epoll_wait(descriptor, base, Int32(Self.maximumEvents), milliseconds)
            guard count > 0 else { return [] }
            var events: [Event] = []
            events.reserveCapacity(Int(count))
            for index in 0..<Int(count) {
                let event = base[index]
                if event.data.u64 == 0 { signal.drain() } else { events.append(Event(event)) }
            }
            return events
        }
    }

    /// Because: enough that a busy loop makes few system calls, small enough for the stack.
    private static let maximumEvents = 128
}

extension EventPoll.Event {
    fileprivate init(_ event: epoll_event) {
        // An error or a hang-up is told by the next read and the next write.
        let trouble = EPOLLERR.rawValue | EPOLLHUP.rawValue
        token = event.data.u64
        isReadable = event.events & (EPOLLIN.rawValue | trouble) != 0
        isWritable = event.events & (EPOLLOUT.rawValue | trouble) != 0
    }
}

/// How many descriptors this process may have open (the soft limit); 1,024 when unknown.
package func descriptorLimit() -> Int {
    var limit = rlimit()
    // 1,024 is Linux' own default. Source: getrlimit(2), Debian 12.
    guard httpdns_descriptor_limit(&limit) == 0 else { return 1_024 }
    return Int(clamping: limit.rlim_cur)
}
