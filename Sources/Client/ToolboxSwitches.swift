internal import Synchronization

/// What of the toolbox is on, for the sessions that share it. Changes count from the next request
/// on; requests in flight end as they began.
///
/// Read and written from any thread, without a lock.
public final class ToolboxSwitches: Sendable {
    private let capture = Atomic(true)
    private let stubs = Atomic(true)
    private let offline = Atomic(false)

    /// Capture and stubs on, offline off.
    public init() {}

    /// Exchanges are recorded where a capture is installed.
    public var isCaptureEnabled: Bool {
        get { capture.load(ordering: .acquiring) }
        set { capture.store(newValue, ordering: .releasing) }
    }

    /// Stubs, recordings, blocks and strictness of rules count; off, such actions are passed over.
    public var isStubbingEnabled: Bool {
        get { stubs.load(ordering: .acquiring) }
        set { stubs.store(newValue, ordering: .releasing) }
    }

    /// Nothing goes to the network: what is kept answers, and everything else fails.
    public var isOffline: Bool {
        get { offline.load(ordering: .acquiring) }
        set { offline.store(newValue, ordering: .releasing) }
    }
}
