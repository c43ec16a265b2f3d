internal import HTTPDNSPlatform
package import HTTPDNSTrust

/// A policy that is replaced while others read it, or build a judge from what they have read of it.
///
/// To build a judge takes files and time, so it is done outside the lock: a judge that was built from a
/// policy, or from roots, that were replaced meanwhile is never put to use but built again.
package final class ChangingPolicy: Sendable {
    /// A policy, and how many there were before it; the same one with roots that were read again counts.
    package struct Edition: Sendable {
        package let policy: TrustPolicy
        fileprivate let number: UInt64
    }

    private let state: Locked<Edition>

    package init(_ policy: TrustPolicy) {
        state = Locked(Edition(policy: policy, number: 0))
    }

    package var edition: Edition { state.withLock { $0 } }

    package var current: TrustPolicy { edition.policy }

    /// Edits the policy of this moment; `publish` puts the judge of the outcome to use, under the lock.
    ///
    /// - Throws: what `build` throws; then the old policy stays.
    package func change<Judge>(
        _ edit: (inout TrustPolicy) -> Void,
        build: (TrustPolicy) throws(SetupFault) -> Judge, publish: (Judge) -> Void
    ) throws(SetupFault) {
        // Ends: a turn is lost only to a change that somebody else has made.
        while true {
            let before = edition
            var policy = before.policy
            edit(&policy)
            let judge = try build(policy)
            if replace(before, by: policy, publish: { publish(judge) }) { return }
        }
    }

    /// The same policy, with a judge that was built anew.
    ///
    /// - Returns: false, and nothing is published, where the policy was replaced since `edition`.
    package func renew(_ edition: Edition, publish: () -> Void) -> Bool {
        replace(edition, by: edition.policy, publish: publish)
    }

    private func replace(
        _ before: Edition, by policy: TrustPolicy, publish: () -> Void
    ) -> Bool {
        state.withLock { state in
            guard state.number == before.number else { return false }
            state = Edition(policy: policy, number: state.number &+ 1)
            publish()
            return true
        }
    }
}
