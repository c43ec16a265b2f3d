internal import Glibc

/// Runs blocking work on a thread of its own, so that tests never block the cooperative pool.
///
/// Not a Dispatch queue: its pool has a bound, and many tests that wait for programs reach it.
package func offPool<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let job = Job { continuation.resume(with: Swift.Result(catching: work)) }
        let raw = Unmanaged.passRetained(job)
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runJob, raw.toOpaque())
        guard code == 0 else {
            raw.release()
            continuation.resume(
                throwing: CommandError(description: "cannot start a thread (errno \(code))"))
            return
        }
        pthread_detach(thread)
    }
}

private final class Job: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// The life of one thread of ``offPool(_:)``.
private func runJob(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let raw else { return nil }
    Unmanaged<Job>.fromOpaque(raw).takeRetainedValue().body()
    return nil
}
