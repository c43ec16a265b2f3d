package import HTTPDNSNames

/// Decides when the addresses of a host are known, while A and AAAA are asked side by side.
///
///     waiting for both ── one with addresses ──▶ waiting 50 ms for the other ──▶ done
///            └─────────── one without ─────────▶ waiting for the other ────────▶ done
///
/// Rules:
/// 1. A family that answers with addresses gives the other ``resolutionDelayMilliseconds`` more, so a
///    lost AAAA never holds back a ready A. Source: RFC 8305 §3.
/// 2. A family that answers without addresses, or fails, waits for the other as long as that takes.
package struct AddressGathering: Sendable {
    package typealias Outcome = Result<LookupAnswer, LookupFailure>

    package enum Action: Sendable, Hashable {
        case armDelay(milliseconds: Int64)
        case disarmDelay
        /// Nothing more is waited for; read ``outcomes``.
        case finish
    }

    /// Source: RFC 8305 §3, "Resolution Delay", recommended value.
    package static let resolutionDelayMilliseconds: Int64 = 50

    /// What came so far, by family.
    package private(set) var outcomes: [IPAddress.Family: Outcome] = [:]
    private var missing: Set<IPAddress.Family>
    private var isDone = false
    private var isDelaying = false

    package init(families: Set<IPAddress.Family>) {
        missing = families
    }

    package mutating func answered(
        _ family: IPAddress.Family, _ outcome: Outcome
    ) -> [Action] {
        guard !isDone, missing.remove(family) != nil else { return [] }
        outcomes[family] = outcome
        if missing.isEmpty { return finish() }
        guard case .success(let answer) = outcome, !answer.addresses.isEmpty else { return [] }
        isDelaying = true
        return [.armDelay(milliseconds: AddressGathering.resolutionDelayMilliseconds)]
    }

    /// The delay is over.
    package mutating func delayOver() -> [Action] {
        guard !isDone, isDelaying else { return [] }
        isDelaying = false
        return finish()
    }

    private mutating func finish() -> [Action] {
        isDone = true
        return isDelaying ? [.disarmDelay, .finish] : [.finish]
    }
}
