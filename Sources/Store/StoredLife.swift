internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// When an answer was kept and for how long.
///
/// Within one boot its age is told by the clock of that boot, which nobody sets; across boots by the
/// wall clock. An answer that seems to have been kept in the future is of no known age: it is dropped.
struct StoredLife: Sendable, Hashable {
    let keptWallSeconds: Int64
    let keptBootMilliseconds: Int64
    let bootID: String
    let lifeSeconds: UInt32

    /// The moment that a store's rules are applied at.
    struct Moment: Sendable, Hashable {
        let wallSeconds: Int64
        let bootMilliseconds: Int64
        let bootID: String
    }

    /// Milliseconds since it was kept; nil when that lies in the future.
    func ageMilliseconds(at now: Moment) -> Int64? {
        let age: Int64
        if !bootID.isEmpty, bootID == now.bootID {
            let (difference, overflow) = now.bootMilliseconds.subtractingReportingOverflow(
                keptBootMilliseconds)
            guard !overflow else { return nil }
            age = difference
        } else {
            let (seconds, overflow) = now.wallSeconds.subtractingReportingOverflow(keptWallSeconds)
            let (milliseconds, overflowed) = seconds.multipliedReportingOverflow(by: 1_000)
            guard !overflow, !overflowed else { return nil }
            age = milliseconds
        }
        return age >= 0 ? age : nil
    }

    /// What is left of its life, rounded down, and what has passed since its end.
    func left(at now: Moment) -> (secondsLeft: UInt32, secondsOver: UInt32)? {
        guard let age = ageMilliseconds(at: now) else { return nil }
        let life = Int64(lifeSeconds) * 1_000
        guard age < life else {
            return (0, UInt32(clamping: (age - life) / 1_000))
        }
        return (UInt32(clamping: (life - age) / 1_000), 0)
    }

    /// By the wall clock; only the order of removal depends on it.
    var endWallSeconds: Int64 {
        let (sum, overflow) = keptWallSeconds.addingReportingOverflow(Int64(lifeSeconds))
        return overflow ? .max : sum
    }
}

/// The clocks of a store, read together.
struct StoreClocks: Sendable {
    let wall: any WallSource
    let boot: any BootSource

    func now() -> StoredLife.Moment {
        StoredLife.Moment(
            wallSeconds: wall.now().secondsSince1970,
            bootMilliseconds: boot.millisecondsSinceBoot(), bootID: boot.bootID)
    }
}
