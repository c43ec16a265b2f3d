package import HTTPDNSNames

/// What the TLS library made of an OCSP response for the peer's own certificate. Its signature and
/// its signer have been checked; its times have not.
package struct StapleFacts: Sendable, Hashable {
    package enum Status: Sendable, Hashable {
        case good
        case revoked(since: WallTime?, reason: String?)
        /// The responder does not know the certificate.
        case unknown
    }

    package let status: Status
    package let thisUpdate: WallTime
    package let nextUpdate: WallTime?

    package init(status: Status, thisUpdate: WallTime, nextUpdate: WallTime?) {
        self.status = status
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
    }
}

package enum StapleEvidence: Sendable, Hashable {
    /// There was no handshake in which the peer could have sent one.
    case notAsked
    case absent
    /// It proves nothing; the text completes "the staple …".
    case unusable(String)
    case read(StapleFacts)
}

/// What the given revocation lists say of one certificate of the verified chain.
package enum ListFinding: Sendable, Hashable {
    /// No list of its issuer is there.
    case unlisted
    case good(until: WallTime?)
    case revoked
    /// A list of its issuer is there and proves nothing; the text completes "the list of …".
    case unusable(String)
}

/// What is known of revocation before the peer's staple has been read.
package struct RevocationEvidence: Sendable, Hashable {
    /// The certificate, or the one that issued it, says that its servers always staple.
    package var demandsStaple = false
    /// For each certificate of the verified chain, leaf first; empty where no lists are given.
    package var lists: [ListFinding] = []

    package init(demandsStaple: Bool = false, lists: [ListFinding] = []) {
        self.demandsStaple = demandsStaple
        self.lists = lists
    }
}

/// Decides what staples and revocation lists are worth. Does no I/O.
///
/// Rules, in this order:
/// 1. `off`: nothing is looked at.
/// 2. Whoever says "revoked" is believed, in a list or staple that has ended, too: a revoked
///    certificate does not become good again. Source: RFC 5280 §5.3.1, RFC 6960 §2.2.
/// 3. A certificate that demands a staple is refused without a good and current one.
///    Source: RFC 7633 §4.2.3.
/// 4. `required`: the peer's own certificate is shown good by a current staple or list.
/// 5. What is there and proves nothing is said in the report, and counts for nothing.
package enum RevocationJudge {
    /// Why a peer is refused.
    package struct Fault: Error, Sendable, Hashable {
        package let code: TrustFailure.Code
        package let detail: String
    }

    package static func judge(
        _ evidence: RevocationEvidence, staple: StapleEvidence, mode: RevocationPolicy.Mode,
        now: WallTime
    ) throws(Fault) -> RevocationReport {
        guard mode != .off else { return .off }
        try refuseRevoked(evidence, staple: staple)
        let opinion = Opinion(staple, now: now)
        if evidence.demandsStaple { try demand(opinion, staple) }
        var remarks: [String] = []
        if let remark = opinion.remark { remarks.append(remark) }
        let statuses = evidence.lists.enumerated().map { index, finding in
            status(finding, index, &remarks)
        }
        var leaf = statuses.first ?? .notChecked(.nothingPresent)
        if case .good = opinion.status {
            leaf = opinion.status
        } else if case .notChecked(let reason) = leaf, reason != .unusable {
            leaf = opinion.status
        }
        if mode == .required, case .notChecked = leaf {
            let isStaple = opinion.remark != nil
            let words =
                remarks.isEmpty ? ["no staple came, and no list of its issuer is given"] : remarks
            throw Fault(
                code: isStaple ? .stapleInvalid : .revocationUnknown,
                detail: words.joined(separator: "; "))
        }
        // The last one is the root, or the leaf alone.
        let issuers = statuses.count > 2 ? Array(statuses[1..<(statuses.count - 1)]) : []
        return RevocationReport(
            leaf: leaf, issuers: issuers, remarks: remarks,
            isRequired: mode == .required || evidence.demandsStaple)
    }

    /// Whether a report still holds: what was demanded must not have run out meanwhile.
    package static func confirm(_ report: RevocationReport, now: WallTime) throws(Fault) {
        guard report.isRequired, case .good(let source, let until?) = report.leaf,
            until.adding(seconds: skewSeconds) < now
        else { return }
        throw Fault(
            code: source == .staple ? .stapleInvalid : .revocationUnknown,
            detail: "what showed it to be good ended \(until.iso8601)")
    }

    private static func refuseRevoked(
        _ evidence: RevocationEvidence, staple: StapleEvidence
    ) throws(Fault) {
        if case .read(let facts) = staple, case .revoked(let since, let reason) = facts.status {
            throw Fault(
                code: .revoked,
                detail: "the staple says: revoked" + (since.map { " since \($0.iso8601)" } ?? "")
                    + (reason.map { " (\($0))" } ?? ""))
        }
        if let index = evidence.lists.firstIndex(of: .revoked) {
            throw Fault(
                code: .revoked, detail: "a revocation list names \(name(index)) of the chain")
        }
    }

    private static func demand(_ opinion: Opinion, _ staple: StapleEvidence) throws(Fault) {
        switch staple {
        case .notAsked: return
        case .absent:
            throw Fault(
                code: .stapleMissing,
                detail: "the certificate demands a stapled OCSP response, and none came")
        case .unusable, .read:
            guard let remark = opinion.remark else { return }
            throw Fault(code: .stapleInvalid, detail: remark)
        }
    }

    private static func status(
        _ finding: ListFinding, _ index: Int, _ remarks: inout [String]
    ) -> RevocationStatus {
        switch finding {
        case .unlisted, .revoked: return .notChecked(.nothingPresent)
        case .good(let until): return .good(.list, until: until)
        case .unusable(let words):
            remarks.append("the revocation list for \(name(index)) \(words)")
            return .notChecked(.unusable)
        }
    }

    private static func name(_ index: Int) -> String {
        index == 0 ? "the certificate" : "authority \(index)"
    }

    /// What a staple is worth at this moment.
    private struct Opinion {
        let status: RevocationStatus
        /// Why it is worth nothing, where there is one.
        let remark: String?

        init(_ staple: StapleEvidence, now: WallTime) {
            switch staple {
            case .notAsked: (status, remark) = (.notChecked(.noHandshake), nil)
            case .absent: (status, remark) = (.notChecked(.nothingPresent), nil)
            case .unusable(let words):
                (status, remark) = (.notChecked(.unusable), "the staple \(words)")
            case .read(let facts):
                let end = facts.nextUpdate ?? facts.thisUpdate.adding(seconds: undatedSeconds)
                if let fault = Opinion.fault(of: facts, end: end, now: now) {
                    (status, remark) = (.notChecked(.unusable), "the staple " + fault)
                } else {
                    (status, remark) = (.good(.staple, until: end), nil)
                }
            }
        }

        private static func fault(
            of facts: StapleFacts, end: WallTime, now: WallTime
        ) -> String? {
            guard facts.status == .good else { return "does not know the certificate" }
            guard facts.thisUpdate <= now.adding(seconds: skewSeconds) else {
                return "begins only \(facts.thisUpdate.iso8601)"
            }
            guard facts.thisUpdate <= end else { return "ends before it begins" }
            guard now <= end.adding(seconds: skewSeconds) else { return "ended \(end.iso8601)" }
            return nil
        }
    }

    /// How far the clock of a responder may be from ours.
    ///
    /// Source: ocsp(1), the default of `-validity_period`.
    package static let skewSeconds: Int64 = 300

    /// How long a response without `nextUpdate` counts.
    ///
    /// Because: newer information is always there (RFC 6960 §2.4), so that it says little about
    /// tomorrow; a day is what servers take to fetch the next.
    private static let undatedSeconds: Int64 = 86_400
}

extension WallTime {
    /// Saturates: a certificate may name any time.
    func adding(seconds: Int64) -> WallTime {
        let (sum, overflow) = secondsSince1970.addingReportingOverflow(seconds)
        return WallTime(secondsSince1970: overflow ? (seconds < 0 ? .min : .max) : sum)
    }
}
