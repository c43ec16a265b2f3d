internal import CHTTPDNSSystem
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
    let interceptor: TestAuthority

    init() throws(LabError) {
        // Old enough for a world whose clocks are a year ahead or behind.
        let always = TestValidity.seeded
        root = try TestAuthority("Lab Root", validity: always)
        stranger = try TestAuthority("Hijacker Root", validity: always)
        interceptor = try TestAuthority("FortiGate CA", validity: always)
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
    /// What the origin says, and what others say.
    let genuine: String
    let forged: String
    /// When certificates are valid: another year than this machine's clock shows, where that is to be
    /// wrong; nil: now.
    let validity: Locked<TestValidity?>
    private let state: Locked<State>

    private struct State: Sendable {
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
        var told: @Sendable (WireName) -> [IPAddress] = { _ in [] }
        var probe: LabServer?
        var portal: LabResponse?
        var steps: [HijackPlannedStep] = []
        var shift: Int64 = 0
    }

    init(_ name: String, _ cast: HijackCast, block: UInt8) throws(LabError) {
        self.cast = cast
        self.block = block
        guard let host = try? HostName(name + ".hijack.test") else {
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

// Who is there.
extension HijackWorld {
    /// The origin, or a second one of it.
    @discardableResult
    func origin(
        _ place: Place = .origin, identity given: TestIdentity? = nil
    ) throws(LabError) -> LabServer {
        let identity: TestIdentity
        if let given { identity = given } else { identity = try leaf([.dns(host.description)]) }
        let text = genuine + "\n"
        let server = try https(address(place), identity) { _ in .text(text) }
        state.withLock { $0.origins.append(server) }
        return server
    }

    /// Somebody else, who would answer whatever is asked.
    @discardableResult
    func liar(
        _ place: IPAddress, identity: TestIdentity, byName: [String: TestIdentity] = [:]
    ) throws(LabError) -> LabServer {
        let text = forged + "\n"
        let server = try https(place, identity, byName: byName) { _ in .text(text) }
        state.withLock { $0.liars.append(server) }
        return server
    }

    private func https(
        _ address: IPAddress, _ identity: TestIdentity, byName: [String: TestIdentity] = [:],
        _ handler: @escaping @Sendable (LabRequest) -> LabResponse
    ) throws(LabError) -> LabServer {
        let port: Port
        if let known = self.port {
            port = known
            try awaitFree(address, port)
        } else {
            port = try HijackWorld.freePort(at: address)
        }
        let server = try LabServer(
            address: address, port: port, security: .tls(identity, byName: byName),
            handler: handler)
        state.withLock { $0.port = port }
        try add(server)
        return server
    }

    /// What another server had a moment ago may be held a little longer, by a process that is being
    /// started just now and has not yet let go of what it inherited. Before the start another world is
    /// drawn instead.
    private func awaitFree(_ address: IPAddress, _ port: Port) throws(LabError) {
        guard state.withLock({ $0.isStarted }) else { return }
        for _ in 0..<HijackWorld.reclaims {
            if (try? Descriptor.bound(stream: true, address: address, port: port.number)) != nil {
                return
            }
            _ = poll(nil, 0, HijackWorld.reclaimPause)
        }
    }

    /// Because: to start a process takes milliseconds, on a loaded machine a second; five in all.
    private static let reclaims = 250
    private static let reclaimPause: Int32 = 20

    /// Given back at once, and then taken by its number: only so can another server have it a moment
    /// later, when the first has left and its connections are still being forgotten.
    private static func freePort(at address: IPAddress) throws(LabError) -> Port {
        try Descriptor.bound(stream: true, address: address).boundPort()
    }

    /// A server that is part of the hijack.
    func add(_ server: LabServer) throws(LabError) {
        try add(
            HijackPart(
                start: { () throws(LabError) in try server.start() }, stop: { server.stop() },
                contacts: { server.record.connections },
                drain: { _ = server.awaitConnectionsEnded() }))
    }

    /// A box at the origin's place, which lets pass what does not name the host.
    func filter(_ origin: LabServer, _ deed: NameFilter.Deed) throws(LabError) {
        let filter = try NameFilter(
            to: origin, at: address(.origin), port: origin.port, hides: host.description,
            deed: deed)
        try add(
            HijackPart(
                start: { () throws(LabError) in try filter.start() }, stop: { filter.stop() },
                contacts: { filter.names.count },
                drain: { _ = filter.awaitConnectionsEnded() }))
    }

    /// Something that is part of the hijack; started at once where the others have been.
    func add(_ part: HijackPart) throws(LabError) {
        let isStarted = state.withLock { state in
            state.parts.append(part)
            return state.isStarted
        }
        if isStarted { try part.start() }
    }

    /// A certificate of the authority that clients trust.
    func leaf(_ names: [TestName]) throws(LabError) -> TestIdentity {
        try cast.root.leaf(names, validity: validity.withLock { $0 })
    }

    /// Tells the truth over HTTPS, and can prove it.
    func honest(fault: LabServiceFault? = nil) throws(LabError) {
        let place = address(.honest)
        var features = LabTLSFeatures()
        features.speaksHTTP2 = true
        let service = try LabHTTPDNSServer(
            address: place, security: .tls(try leaf([.address(place)]), features: features),
            settings: settings(truth))
        if let fault { service.misbehave(fault) }
        try add(service)
        let url = "https://\(place.uriText):\(service.port)/dns-query"
        let source = HijackSource(.doh, place, service.port, url: url, isProven: true)
        state.withLock { state in
            state.tellers.append(service)
            state.trusted.append(source)
        }
    }

    /// A service that is told the truth whenever it changes, or not.
    func add(_ service: LabHTTPDNSServer, isKeptTrue: Bool = false) throws(LabError) {
        if isKeptTrue { state.withLock { $0.tellers.append(service) } }
        try add(
            HijackPart(
                start: { () throws(LabError) in try service.start() }, stop: { service.stop() },
                contacts: { service.record.connections }))
    }

    /// What a service knows that lives in this world.
    func settings(_ table: LabTable) -> LabServiceSettings {
        var settings = LabServiceSettings(table: table)
        settings.time = .shifted(seconds: state.withLock { $0.shift })
        return settings
    }

    /// A DNS server at a place.
    func dns(
        _ place: Place, _ zone: @escaping LabDNSServer.Zone
    ) throws(LabError) -> HijackSource {
        let server = try LabDNSServer(address: address(place), zone: zone)
        try add(
            HijackPart(
                start: { () throws(LabError) in try server.start() }, stop: { server.stop() },
                contacts: { server.queries.count }))
        return HijackSource(.datagram, server.address, server.port)
    }

    /// The resolver of this network, which says what the zone does; and whom clients would believe that
    /// are told addresses.
    @discardableResult
    func resolver(_ zone: @escaping LabDNSServer.Zone) throws(LabError) -> HijackSource {
        let source = try dns(.resolver, zone)
        answersTo(source) { name in
            zone(LabQuestion(name: name, type: .a, isTCP: false)).believed(of: .ipv4)
                + zone(LabQuestion(name: name, type: .aaaa, isTCP: false)).believed(of: .ipv6)
        }
        return source
    }

    /// Who answers on this network, and what.
    func answersTo(
        _ source: HijackSource, _ told: @escaping @Sendable (WireName) -> [IPAddress]
    ) {
        state.withLock { state in
            state.resolvers.append(source)
            state.told = told
        }
    }

    /// The resolver of this network, which says of the host what it is given, and of all else the truth.
    @discardableResult
    func resolver(
        saying addresses: [IPAddress], ttlSeconds: UInt32 = 60
    ) throws(LabError) -> HijackSource {
        let host = host.description
        return try resolver { [self] question in
            question.text == host
                ? question.answer(addresses, ttlSeconds: ttlSeconds) : truth.answer(question)
        }
    }

    /// Whose answers are proved.
    func trusts(_ source: HijackSource) { state.withLock { $0.trusted.append(source) } }

    /// The origin leaves this place; what it saw there stays on record.
    func leave(_ place: Place) throws(LabError) {
        let address = address(place)
        let leaving = state.withLock { $0.origins }.filter { $0.address == address }
        for server in leaving { server.stop() }
    }

    /// Somebody answers where there is no DNS.
    func intercepts(_ source: HijackSource) { state.withLock { $0.vacant = source } }

    /// What a probe for portals gets.
    func portal(_ response: LabResponse) { state.withLock { $0.portal = response } }

    /// All certificates and clocks but the client's are so many seconds ahead.
    func shift(seconds: Int64) {
        let now = labWallTime().secondsSince1970 &+ seconds
        // A day before and a month after.
        let shifted = TestValidity(
            notBefore: WallTime(secondsSince1970: now - 86_400),
            notAfter: WallTime(secondsSince1970: now + 30 * 86_400))
        validity.withLock { $0 = shifted }
        state.withLock { $0.shift = seconds }
    }
}

extension LabAnswer {
    /// The addresses of a family, of what is believed by who takes the first answer.
    func believed(of family: IPAddress.Family) -> [IPAddress] {
        var records = answers
        if case .forgesFirst(let first) = conduct { records = first }
        return records.compactMap { record in
            guard case .address(let address) = record.data else { return nil }
            return address.family == family ? address : nil
        }
    }
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
        let probe = try LabServer(address: address(.probe)) { _ in portal }
        // Not by ``add``: what is probed is nobody's content.
        try probe.start()
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
        let probe = state.probe.map { $0.url(host: $0.address.uriText, path: "/generate_204") }
        return HijackTarget(
            url: url(), host: host.description, port: port, authorityPEM: cast.root.certificatePEM,
            resolvers: state.resolvers, trusted: state.trusted, told: state.told(WireName(host)),
            vacantDNS: state.vacant
                ?? HijackSource(.datagram, address(.vacant), source?.port ?? port),
            probeURL: probe ?? "", probePort: state.probe?.port ?? port, genuine: genuine, forged: forged)
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
