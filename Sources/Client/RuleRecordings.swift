public import HTTPDNSRules

// What rules record
extension LiveRules {
    /// Returns when what the rules recorded by now is where it goes: see ``FixtureRecorder/flush()``.
    ///
    /// Rules that were replaced are not asked: what they recorded is written soon after the last of
    /// their exchanges has ended; flush before they are replaced to wait for it.
    ///
    /// - Throws: `RuleFault`: what could not be kept since this was last asked, of the first that lost
    ///   something.
    public func flushRecordings() async throws(RuleFault) {
        try await settleRecordings { recorder throws(RuleFault) in try await recorder.flush() }
    }

    /// The same, for good: see ``FixtureRecorder/close()``. A program calls it before it ends.
    ///
    /// - Throws: `RuleFault`: what could not be kept since this was last asked, of the first that lost
    ///   something.
    public func closeRecordings() async throws(RuleFault) {
        try await settleRecordings { recorder throws(RuleFault) in try await recorder.close() }
    }

    private func settleRecordings(
        _ settle: (FixtureRecorder) async throws(RuleFault) -> Void
    ) async throws(RuleFault) {
        var first: RuleFault?
        for recorder in rules.recorders {
            do throws(RuleFault) { try await settle(recorder) } catch { first = first ?? error }
        }
        if let first { throw first }
    }
}
