internal import CHTTPDNSSystem

/// A thread of our own that nobody joins.
package enum DetachedThread {
    /// Starts `body` on a new thread.
    ///
    /// - Parameters:
    ///   - name: at most 15 octets are shown by the system. Source: pthread_setname_np(3).
    ///   - body: what the thread runs; it ends with it.
    /// - Returns: false when the system gives no thread; `body` is then never called.
    @discardableResult
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(ThreadBody(name: name, body: body))
        guard httpdns_thread_start_detached(runThreadBody, box.toOpaque()) == 0 else {
            box.release()
            return false
        }
        return true
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// Called once on the new thread; takes over the reference made in `start`.
private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let owner = Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
    httpdns_thread_set_name(owner.name)
    owner.body()
    return nil
}
