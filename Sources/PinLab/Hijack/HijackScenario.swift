/// One way in which a network lies about a name, or in which it only seems to, by name.
///
///     let stage = try HijackLab().open(.named("plain-poisoning"))
///     defer { stage.stop() }
///     // … a client asks stage.target.resolvers for stage.target.host, and goes to stage.target.url …
///
/// Each has an origin with a certificate of the laboratory's authority, an honest resolver, and who
/// lies: a resolver, a server, or what stands between. All of it is on loopback.
public struct HijackScenario: Sendable, Identifiable {
    /// A stable name of lower-case words: `plain-poisoning`. It is also the first label of the host.
    public let name: String
    /// At which layer it happens.
    public let layer: HijackLayer
    /// What it is, in a line.
    public let deed: String
    /// Where it is met outside of laboratories.
    public let seen: String
    /// What a diagnosis has to find.
    public let finding: HijackFinding
    /// What a client has to do, and why.
    public let duty: String
    let traits: Set<Trait>
    /// Builds it.
    let setting: Setting

    typealias Setting = @Sendable (HijackWorld) throws(LabError) -> Void

    /// ``name``.
    public var id: String { name }

    /// All of them, in the order of their layers.
    public static let all: [HijackScenario] =
        controls + answers + blocks + moves + services + paths + clocks

    init(
        _ name: String, _ layer: HijackLayer, _ words: HijackWords, _ finding: HijackFinding,
        _ traits: Set<Trait> = [], setting: @escaping Setting
    ) {
        self.name = name
        self.layer = layer
        deed = words.deed
        seen = words.seen
        duty = words.duty
        self.finding = finding
        self.traits = traits
        self.setting = setting
    }

    /// What grading has to know.
    enum Trait: Sendable, Hashable {
        /// Nobody is there who could be spoken to.
        case silent
        /// There is nobody at the addresses that the network's resolver tells, if it tells any.
        case meetsNobody
        /// Even the origin proves nothing: content from there is none to be content with.
        case provesNothing
        /// The end only comes by waiting.
        case stall
        /// The host has a public name, by which addresses are judged more strictly.
        case isPublic
        /// What is told leads out of this machine: for clients that are known not to go there.
        case leadsOut
    }

    /// Whether a refusal takes as long as the client waits: give it less time.
    public var isStall: Bool { traits.contains(.stall) }

    /// The scenario of that name.
    ///
    /// - Throws: ``LabError/unknownScenario(_:)``.
    public static func named(_ name: String) throws(LabError) -> HijackScenario {
        guard let scenario = all.first(where: { $0.name == name }) else {
            throw .unknownHijack(name)
        }
        return scenario
    }
}

/// At which layer a hijack happens.
public enum HijackLayer: String, Sendable, Hashable, CaseIterable {
    /// Nobody lies: what must not be called a hijack.
    case none
    /// What resolvers answer.
    case dns
    /// What HTTP-DNS services answer.
    case service
    /// What stands between a client and an address.
    case path
    /// The client's own machine.
    case machine
}

/// The verdicts that a diagnosis can end in.
public enum HijackVerdict: String, Sendable, Hashable, CaseIterable {
    /// Nobody lies.
    case clean
    /// Addresses differ, and each proves the name.
    case cdnVariation = "cdn_variation"
    /// A source lies.
    case dnsHijacked = "dns_hijacked"
    /// Somebody else ends TLS at the right address.
    case tlsIntercepted = "tls_intercepted"
    /// Connections fail that name the host in their first message.
    case sniFiltered = "sni_filtered"
    /// The right addresses cannot be reached.
    case addressBlocked = "address_blocked"
    /// The network wants a log-in first.
    case captivePortal = "captive_portal"
    /// The origin's own certificate is bad, whoever is asked.
    case originBroken = "origin_broken"
    /// There is no network.
    case offline
    /// Something is missing.
    case inconclusive
}

/// What a diagnosis found, or has to find.
public struct HijackFinding: Sendable, Hashable, CustomStringConvertible {
    /// The verdict.
    public var verdict: HijackVerdict
    /// How a source lies, of those that a diagnosis tells apart: `forged`, `rewritten`, `intercepted`,
    /// `stale`, `blocked`; or what is missing: `right_clock`. Empty: any will do, or none.
    public var ways: Set<String>
    /// Verdicts that are as good: what can be known may depend on the machine.
    public var alternatives: Set<HijackVerdict> = []

    /// A finding.
    public init(_ verdict: HijackVerdict, _ ways: Set<String> = []) {
        self.verdict = verdict
        self.ways = ways
    }

    /// `dns_hijacked (forged)`.
    public var description: String {
        ways.isEmpty
            ? verdict.rawValue : "\(verdict.rawValue) (\(ways.sorted().joined(separator: ", ")))"
    }

    /// Whether what was found is what had to be: the same verdict, and one of the ways where any is
    /// asked for.
    public func isMet(by found: HijackFinding) -> Bool {
        if alternatives.contains(found.verdict) { return true }
        return verdict == found.verdict && (ways.isEmpty || !ways.isDisjoint(with: found.ways))
    }
}

/// How a hijack is told of.
struct HijackWords: Sendable {
    /// What it is.
    let deed: String
    /// Where it is met.
    let seen: String
    /// What a client has to do.
    let duty: String

    init(_ deed: String, seen: String, duty: String) {
        self.deed = deed
        self.seen = seen
        self.duty = duty
    }
}
