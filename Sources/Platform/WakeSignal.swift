internal import CHTTPDNSSystem

/// What a thread that sleeps on descriptors is woken by: a descriptor that becomes readable.
package final class WakeSignal: Sendable {
    /// To be waited for, and ``drain()``ed once it is readable.
    package let descriptor: Int32

    /// Nil when the process has no descriptor left.
    package init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Ends the sleep of the thread, now or the next one. Any thread.
    package func wake() {
        var one: UInt64 = 1
        // A full counter means that a wake-up is pending already.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Called by the thread that was woken.
    package func drain() {
        var counter: UInt64 = 0
        _ = read(descriptor, &counter, MemoryLayout<UInt64>.size)
    }
}
