internal import Synchronization

/// Whether sessions are answered here at all; for the whole process, read once a request.
package enum KillSwitch {
    private static let state = Atomic(true)

    /// Off: every request of every session goes to the system's loader, from the next one on.
    package static var isOn: Bool {
        get { state.load(ordering: .acquiring) }
        set { state.store(newValue, ordering: .releasing) }
    }
}
