internal import HTTPDNSPlatform

/// One request under way that somebody else than the client answers: a rule, the proxy, a loader of
/// the application's own. All calls are legal from any thread; none waits.
public final class CaptureWatch: Sendable {
    private let capture: Capture
    private let draft: Locked<CaptureDraft>
    private let begun: Double

    init(_ capture: Capture, _ draft: CaptureDraft, begun: Double) {
        self.capture = capture
        self.draft = Locked(draft)
        self.begun = begun
    }

    // Whoever let go without a word gave up.
    deinit { end { $0.failure = $0.failure ?? .init(label: "cancelled", message: "cancelled") } }

    /// Changes what is known; nothing after the end. The bodies are counted by ``sent(_:)`` and
    /// ``received(_:)``.
    public func change(_ change: (inout CaptureRecord) -> Void) {
        draft.withLock { $0.change(change) }
    }

    /// Octets of the request's body.
    public func sent(_ octets: UnsafeRawBufferPointer) { take(octets, .request) }

    /// Octets of the answer's body.
    public func received(_ octets: UnsafeRawBufferPointer) { take(octets, .response) }

    /// The head of the answer is there: listeners are told.
    public func answered() {
        guard capture.hasListeners else { return }
        let draft = draft.withLock { $0 }
        guard !draft.isOver else { return }
        capture.post(.answered(SentDraft(onTheWay: draft)))
    }

    /// It is over; only the first call counts.
    ///
    /// - Parameter failure: why it failed; nil: it did not.
    public func ended(_ failure: CaptureRecord.Failure? = nil) {
        end { if let failure { $0.failure = failure } }
    }

    private func end(_ change: (inout CaptureRecord) -> Void) {
        let total = capture.milliseconds() - begun
        capture.end(draft) { draft in
            draft.change(change)
            draft.totalMilliseconds = total
        }
    }

    private func take(_ octets: UnsafeRawBufferPointer, _ side: CaptureRecord.Side) {
        let piece = draft.withLock { $0.take(octets, side) }
        guard let piece, !capture.take(piece) else { return }
        draft.withLock { $0[omission: side] = .dropped }
    }
}

extension CaptureDraft {
    mutating func take(
        _ octets: UnsafeRawBufferPointer, _ side: CaptureRecord.Side
    ) -> CapturePiece? {
        guard !isOver else { return nil }
        // One that lost a piece keeps what it has: a hole would not be seen.
        guard self[omission: side] == nil else {
            self[side].count(octets.count)
            return nil
        }
        return self[side].take(octets).map {
            CapturePiece(id: id, side: side, form: form(of: side), octets: $0)
        }
    }
}
