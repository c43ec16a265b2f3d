/// A moment by both clocks, so that ages are right over a restart and over a wall clock that is
/// set.
package struct CacheMoment: Sendable, Hashable {
    /// Seconds since 1970, by the wall clock.
    package var wallSeconds: Int64
    /// Milliseconds since the machine was started.
    package var bootMilliseconds: Int64
    /// Names the boot; empty when the system does not say.
    package var bootID: String

    package init(wallSeconds: Int64, bootMilliseconds: Int64, bootID: String) {
        self.wallSeconds = wallSeconds
        self.bootMilliseconds = bootMilliseconds
        self.bootID = bootID
    }

    /// Seconds from `earlier` to this moment, rounded down: within one boot by its clock, which
    /// nobody sets, else by the wall clock. Nil when it would lie in the future.
    package func seconds(since earlier: CacheMoment) -> Int64? {
        let isSameBoot = !bootID.isEmpty && bootID == earlier.bootID
        let (difference, overflow) =
            isSameBoot
            ? bootMilliseconds.subtractingReportingOverflow(earlier.bootMilliseconds)
            : wallSeconds.subtractingReportingOverflow(earlier.wallSeconds)
        guard !overflow, difference >= 0 else { return nil }
        return isSameBoot ? difference / 1_000 : difference
    }
}
