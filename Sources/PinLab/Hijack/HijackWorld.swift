internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// Who takes part in every hijack: made once.
struct HijackCast: Sendable {
    /// The one root that clients trust.
    let root: TestAuthority
    /// A root that nobody trusts.
    let stranger: TestAuthority
    /// A root as products have that open TLS on the way: nobody trusts it, but its name says what it is.
    let product: TestAuthority
    /// One whose name says nothing.
    let gateway: TestAuthority

    init() throws(LabError) {
        // Old enough for a world whose clocks are a year ahead or behind.
        let always = TestValidity.seeded
        root = try TestAuthority("Lab Root", validity: always)
        stranger = try TestAuthority("Hijacker Root", validity: always)
        product = try TestAuthority("FortiGate CA", validity: always)
        gateway = try TestAuthority("Example Company Gateway", validity: always)
    }
}

/// The servers of one hijack, while it is set up and while it changes. For one thread at a time.
///
/// All addresses are of one block, 127.77.`block`.0/24, that is drawn for each hijack, and all that one
/// URL can lead to have one port: so that two laboratories on one machine do not meet.
final class HijackWorld: Sendable {
    /// Places in the block.
    enum Place: UInt8, Sendable {
        case origin = 1
        /// Where the origin is after it moved, or its second address.
        case other
        /// Where lies lead.
        case liar
        /// Who is proved.
        case honest
        /// Who answers on this network.
        case resolver
        /// Nobody: no server ever.
        case dead
        /// No DNS, but for who intercepts it.
        case vacant
        /// Behind a box on the way.
        case hidden
        /// What is probed for portals.
        case probe
        /// A service of HTTP-DNS.
        case service
    }

    let cast: HijackCast
    let host: HostName
    let block: UInt8
    /// Whether nobody is there, not even what is probed.
    private let isSilent: Bool
    /// What the origin says, and what others say.
    let genuine: String
    let forged: String
    /// When certificates are valid: another year than this machine's clock shows, where that is to be
    /// wrong; nil: now.
    let validity: Locked<TestValidity?>
    let state: Locked<State>

    /// All that changes.
    struct State: Sendable {
        /// What names really stand for.
        var truth = LabTable()
        var port: Port?
        var isStarted = false
        var parts: [HijackPart] = []
        var origins: [LabServer] = []
        var liars: [LabServer] = []
        var tellers: [LabHTTPDNSServer] = []
        var resolvers: [HijackSource] = []
        var trusted: [HijackSource] = []
        var vacant: HijackSource?
        /// Ports of the network's resolver besides its own.
        var otherPort: Port?
        var vacantPort: Port?
        var told: @Sendable (WireName) -> [IPAddress] = { _ in [] }
        var probe: LabServer?
        var portal: LabResponse?
        var steps: [HijackPlannedStep] = []
        var shift: Int64 = 0
    }

    init(
        _ scenario: HijackScenario, _ cast: HijackCast, block: UInt8
    ) throws(LabError) {
        self.cast = cast
        self.block = block
        isSilent = scenario.traits.contains(.silent)
        let name = scenario.name
        // Source: RFC 2606 §2 and §3: the first is no public name, the second is one.
        let zone = scenario.traits.contains(.isPublic) ? ".hijack.example.com" : ".hijack.test"
        guard let host = try? HostName(name + zone) else {
            throw .unknownHijack(name)
        }
        self.host = host
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        genuine = "genuine-" + number
        forged = "forged-" + number
        validity = Locked(nil)
        state = Locked(State())
    }

    /// The address of a place.
    func address(_ place: Place) -> IPAddress {
        guard let address = IPAddress(octets: [127, 77, block, place.rawValue]) else {
            preconditionFailure("4 octets are an address")
        }
        return address
    }

    /// The port that the URL has.
    var port: Port? { state.withLock { $0.port } }
}

/// Something that is started and stopped.
struct HijackPart: Sendable {
    let start: @Sendable () throws(LabError) -> Void
    let stop: @Sendable () -> Void
    /// How often it was spoken to.
    let contacts: @Sendable () -> Int
    /// Waits for what is still open.
    var drain: @Sendable () -> Void = {}
}

/// A step, and what happens before it.
struct HijackPlannedStep: Sendable {
    let step: HijackStep
    let change: (@Sendable (HijackWorld) throws(LabError) -> Void)?
}

// What is true.
extension HijackWorld {
    /// What names really stand for.
    var truth: LabTable { state.withLock { $0.truth } }

    /// From now on the host has these addresses.
    func truly(_ addresses: [IPAddress], ttlSeconds: UInt32 = 60) {
        let table = LabTable(host, addresses, ttlSeconds: ttlSeconds)
        let tellers = state.withLock { state in
            state.truth = table
            return state.tellers
        }
        for teller in tellers { teller.tell(table) }
    }

    /// An origin at its place, a resolver that is proved and says so, a probe.
    func begin() throws(LabError) {
        truly([address(.origin)])
        try origin()
        try honest()
    }
}

// What is to be done.
extension HijackWorld {
    /// A request of a client that asks these, in this order.
    func step(
        _ aim: String, _ expected: HijackStep.Expected, of resolvers: [HijackSource],
        goesOn: Bool = false, host: String? = nil,
        after change: (@Sendable (HijackWorld) throws(LabError) -> Void)? = nil
    ) {
        let step = HijackStep(
            url: url(host: host), host: host ?? self.host.description, resolvers: resolvers,
            isNewClient: !goesOn, expected: expected,
            aim: aim)
        state.withLock { $0.steps.append(HijackPlannedStep(step: step, change: change)) }
    }

    /// Two requests: of a client that asks the resolvers of the network alone, and of one that asks who
    /// is proved first, and them after.
    func steps(alone: HijackStep.Expected, together: HijackStep.Expected = .genuine) {
        let (resolvers, trusted) = state.withLock { ($0.resolvers, $0.trusted) }
        step("the network's resolver alone", alone, of: resolvers)
        step("with a proved resolver", together, of: trusted + resolvers)
    }

    /// Whom a client can ask.
    var sources: (resolvers: [HijackSource], trusted: [HijackSource]) {
        state.withLock { ($0.resolvers, $0.trusted) }
    }

    private func url(host other: String? = nil) -> String {
        "https://\(other ?? host.description):\(port.map { "\($0)" } ?? "443")/"
    }
}

// Life.
extension HijackWorld {
    /// Starts all that is there, and what is probed.
    func start() throws(LabError) {
        let portal = state.withLock { $0.portal } ?? LabResponse(status: 204)
        let probe = isSilent ? nil : try LabServer(address: address(.probe)) { _ in portal }
        // Not by ``add``: what is probed is nobody's content.
        try probe?.start()
        let parts = state.withLock { state in
            state.probe = probe
            state.isStarted = true
            return state.parts
        }
        for part in parts { try part.start() }
    }

    func stop() {
        let (parts, probe) = state.withLock { ($0.parts, $0.probe) }
        for part in parts { part.stop() }
        probe?.stop()
    }

    var steps: [HijackPlannedStep] { state.withLock { $0.steps } }

    var target: HijackTarget {
        let state = state.withLock { $0 }
        let source = state.resolvers.first ?? state.trusted.first
        let port = state.port ?? .https
        let probePort = state.probe?.port ?? source?.port ?? port
        let probed = state.probe?.address ?? address(.dead)
        return HijackTarget(
            url: url(), host: host.description, port: port, authorityPEM: cast.root.certificatePEM,
            resolvers: state.resolvers, trusted: state.trusted, told: state.told(WireName(host)),
            vacantDNS: state.vacant
                ?? HijackSource(.datagram, address(.vacant), source?.port ?? port),
            otherPort: state.otherPort, vacantPort: state.vacantPort,
            probeURL: "http://\(probed.uriText):\(probePort)/generate_204", probePort: probePort,
            genuine: genuine,
            forged: forged)
    }

    /// What the network's resolver says of a name.
    func told(_ name: String) -> [IPAddress] {
        guard let name = try? HostName(name) else { return [] }
        return state.withLock { $0.told }(WireName(name))
    }

    /// What was seen until now.
    var tally: HijackTally {
        let state = state.withLock { $0 }
        return HijackTally(
            contacts: state.parts.reduce(0) { $0 + $1.contacts() },
            originRequests: state.origins.reduce(0) { $0 + $1.record.requests.count },
            leakedOctets: state.liars.reduce(0) { $0 + $1.record.receivedOctets })
    }

    /// Waits for connections that are still open.
    func drain() { for part in state.withLock({ $0.parts }) { part.drain() } }
}

/// What the servers of a hijack have seen.
struct HijackTally: Sendable, Hashable {
    /// How often anybody was spoken to.
    var contacts = 0
    /// Requests that the origin got.
    var originRequests = 0
    /// Octets of requests that others got.
    var leakedOctets = 0

    static func - (later: HijackTally, earlier: HijackTally) -> HijackTally {
        HijackTally(
            contacts: later.contacts - earlier.contacts,
            originRequests: later.originRequests - earlier.originRequests,
            leakedOctets: later.leakedOctets - earlier.leakedOctets)
    }
}
