internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// The threads of one server: started one by one, awaited all together.
///
/// Own threads, never the cooperative pool: a server that stalls on purpose must not stall the
/// client under test.
final class ThreadGroup: Sendable {
    private let running = ConditionLocked(0)

    /// Runs the body on a new thread that hears no signal.
    func start(_ body: @escaping @Sendable () -> Void) throws(LabError) {
        running.withLockSignalling { $0 += 1 }
        let work = Unmanaged.passRetained(ThreadWork(group: self, body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, ThreadGroup.stackOctets)
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, threadMain, work.toOpaque())
        guard code == 0 else {
            work.release()
            leave()
            throw .system(operation: "start a thread", code: code)
        }
    }

    /// Waits until every thread has ended; never call it on one of them.
    func awaitAll() { _ = wait(atMost: 0, until: .distantFuture) }

    /// Waits until at most `count` threads run; false when more still did after this time.
    func await(atMost count: Int, milliseconds: Int64) -> Bool {
        wait(atMost: count, until: labNow().adding(milliseconds: milliseconds))
    }

    private func wait(atMost count: Int, until deadline: Monotonic) -> Bool {
        let outcome = running.waitAndTake { running, now in
            running <= count ? [true] : now >= deadline ? [false] : []
        } until: { _ in
            deadline
        }
        return outcome == [true]
    }

    fileprivate func leave() { running.withLockSignalling { $0 -= 1 } }

    /// Because: a handler is user code that may parse JSON; 1 MiB holds it, and a thousand
    /// connections still reserve little.
    private static let stackOctets = 1 << 20
}

private final class ThreadWork: Sendable {
    let group: ThreadGroup
    let body: @Sendable () -> Void

    init(group: ThreadGroup, body: @escaping @Sendable () -> Void) {
        self.group = group
        self.body = body
    }
}

/// First function of each laboratory thread. All signals are blocked: SIGPIPE, which OpenSSL's
/// writes raise, goes to the writing thread and must not end the process.
private func threadMain(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let raw else { return nil }
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, nil)
    let group: ThreadGroup
    do {
        let work = Unmanaged<ThreadWork>.fromOpaque(raw).takeRetainedValue()
        group = work.group
        work.body()
    }
    group.leave()
    return nil
}
