/// One situation in which a client has to decide about a server, by name.
///
///     for scenario in LabScenario.all where scenario.needs.isEmpty {
///         let stage = try bench.open(scenario)
///         defer { stage.stop() }
///         let accepted = myClient.fetch(stage.target.url, trusting: stage.target.authorityPEM)
///         #expect(stage.expects(accepted: accepted), "\(scenario.name): \(scenario.expectation.why)")
///     }
///
/// Its server misbehaves in one way, or in none: without ``fault`` (see ``repaired``) every client
/// accepts it, so that a refusal has that one reason.
public struct LabScenario: Sendable, Identifiable {
    /// A stable name of lower-case words: `wrong-pin`. It is also the first label of the host.
    public let name: String
    /// What it is about.
    public let group: LabGroup
    /// What the server does, in a line.
    public let deed: String
    /// What a client has to do, and why.
    public let expectation: LabExpectation
    /// What a client must be able to do, or be told, before the scenario says something about it.
    public let needs: Set<LabNeed>
    /// The names of badssl.com for this situation.
    public let badssl: [String]
    /// What is peculiar to the scenario and right.
    let setting: Change
    /// What is wrong; nil where nothing is.
    let fault: Change?

    typealias Change = @Sendable (inout LabPlan) -> Void

    /// ``name``.
    public var id: String { name }

    /// The same without what is wrong: every client has to accept it. Where nothing is, the same.
    public var repaired: LabScenario {
        guard fault != nil else { return self }
        return LabScenario(
            name: name, group: group, deed: "as \(name), but without its fault",
            expectation: .accept("nothing is wrong with it", "RFC 9110 §4.3.4"),
            needs: needs, badssl: badssl, setting: setting, fault: nil)
    }

    /// All of them, in the order of their groups.
    public static let all: [LabScenario] =
        sound + pins + names + dates + chains + leakedRoots + strength + status + versions
        + connections
        + sequences

    /// The scenario of that name, or of that name of badssl.com (`badssl-expired`).
    ///
    /// - Throws: ``LabError/unknownScenario(_:)``.
    public static func named(_ name: String) throws(LabError) -> LabScenario {
        if let scenario = all.first(where: { $0.name == name }) { return scenario }
        let prefix = "badssl-"
        if name.hasPrefix(prefix) {
            let alias = String(name.dropFirst(prefix.count))
            if let scenario = all.first(where: { $0.badssl.contains(alias) }) { return scenario }
        }
        throw .unknownScenario(name)
    }
}

/// What scenarios are about.
public enum LabGroup: String, Sendable, Hashable, CaseIterable {
    /// Nothing is wrong: what clients must not refuse.
    case sound
    /// Which keys are accepted.
    case pins
    /// Whom a certificate is for.
    case names
    /// When it is valid.
    case dates
    /// Whom it leads to, and over whom.
    case chains
    /// How strong keys, signatures and ciphers are.
    case strength
    /// Whether it was revoked.
    case status
    /// Which versions and features of TLS are spoken.
    case versions
    /// What happens below TLS.
    case connections
    /// What needs more than one connection.
    case sequences
}

/// What a client has to be able to do for a scenario to say something about it.
public enum LabNeed: String, Sendable, Hashable, CaseIterable, Comparable {
    /// It is told a pin.
    case pin
    /// It is told several pins.
    case pins
    /// It asks for the server's OCSP response.
    case stapling
    /// It is told the known logs, and demands the promise of one.
    case transparency
    /// It is told a revocation list of each authority, and demands that they clear the chain.
    case revocationLists
    /// It follows redirects.
    case following
    /// One client makes several requests.
    case sequence

    /// By name.
    public static func < (lhs: LabNeed, rhs: LabNeed) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// What a client has to do, and why.
public struct LabExpectation: Sendable, Hashable {
    /// What is right.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// A client that refuses cannot reach sound servers.
        case accept
        /// A client that accepts can be deceived.
        case refuse
        /// Both have good reasons.
        case either
    }

    /// What is right.
    public let verdict: Verdict
    /// Why, in a line.
    public let why: String
    /// Where that is written: `RFC 9525 §6.3`.
    public let rule: String
    /// Why this library refuses: one of these labels of `TrustFailure.Code`, or of what a connection
    /// ended in. Empty: it accepts.
    public let codes: [String]

    static func accept(_ why: String, _ rule: String) -> LabExpectation {
        LabExpectation(verdict: .accept, why: why, rule: rule, codes: [])
    }

    static func refuse(_ why: String, _ rule: String, _ codes: String...) -> LabExpectation {
        LabExpectation(verdict: .refuse, why: why, rule: rule, codes: codes)
    }

    /// This library refuses it for one of the reasons, or accepts it when there is none.
    static func either(_ why: String, _ rule: String, _ codes: String...) -> LabExpectation {
        LabExpectation(verdict: .either, why: why, rule: rule, codes: codes)
    }
}
