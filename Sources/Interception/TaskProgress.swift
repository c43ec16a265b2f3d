internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// How far a task is, and what its delegate has been told of that.
struct TaskProgress: Sendable {
    private(set) var counts = TaskInternals.Counts()
    /// Octets that are in a download's file.
    private(set) var written: Int64 = 0
    /// An event that will tell of this is under way.
    var isPosted = false
    private var toldSent: Int64 = 0
    private var toldWritten: Int64 = 0

    /// What a delegate is to be told.
    struct News: Sendable {
        var counts: TaskInternals.Counts
        /// Octets since it was told last; 0 for nothing new.
        var newlySent: Int64
        var newlyWritten: Int64
        var written: Int64
    }

    mutating func expect(toSend octets: Int64?) { counts.expectedToSend = octets ?? -1 }
    mutating func expect(toReceive octets: Int64?) { counts.expectedToReceive = octets ?? -1 }
    mutating func sent(_ count: Int) { counts.sent &+= Int64(count) }
    mutating func received(_ count: Int) { counts.received &+= Int64(count) }
    mutating func wrote(_ count: Int) { written &+= Int64(count) }

    /// The body is sent anew.
    mutating func sendAgain() {
        counts.sent = 0
        toldSent = 0
    }

    /// The same, and what was received does not count; no event is under way.
    mutating func beginAgain() {
        sendAgain()
        counts.received = 0
        written = 0
        toldWritten = 0
        isPosted = false
    }

    /// A delegate is to be told.
    var hasNewlySent: Bool { counts.sent > toldSent }

    mutating func takeNews() -> News {
        isPosted = false
        defer {
            toldSent = counts.sent
            toldWritten = written
        }
        return News(
            counts: counts, newlySent: counts.sent - toldSent,
            newlyWritten: written - toldWritten, written: written)
    }
}

extension TaskInternals.Counts {
    /// What the task's `progress` says: octets of both directions; a total only where both are known.
    func show(on progress: Progress) {
        let isKnown = expectedToSend >= 0 && expectedToReceive >= 0
        progress.totalUnitCount =
            isKnown ? expectedToSend.addingReportingOverflow(expectedToReceive).partialValue : -1
        progress.completedUnitCount = sent.addingReportingOverflow(received).partialValue
    }
}
