internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

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

    /// Somebody who makes a certificate for whatever name is asked, by an authority of his own.
    func interceptor(_ authority: TestAuthority) throws(LabError) {
        let name = host.description
        let server = try liar(
            address(.origin), identity: try authority.leaf([.dns(name)], commonName: name))
        server.chooseIdentity { asked in
            guard let asked, asked != name,
                let leaf = try? authority.leaf([.dns(asked)], commonName: String(asked.prefix(64)))
            else { return nil }
            return try? TLSContext(leaf, versions: .current)
        }
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
    ///
    /// - Parameters:
    ///   - isCut: It is not let through: its handshakes are reset.
    ///   - impostor: Who stands in its place and says what this table says; nil: it is the one it is.
    func honest(
        isCut: Bool = false, impostor: (authority: TestAuthority, table: LabTable)? = nil
    ) throws(LabError) {
        let place = address(.honest)
        var features = LabTLSFeatures()
        features.speaksHTTP2 = true
        let names: [TestName] = [.address(place)]
        let identity: TestIdentity
        if let impostor {
            identity = try impostor.authority.leaf(names)
        } else {
            identity = try leaf(names)
        }
        let service = try LabHTTPDNSServer(
            address: place, security: .tls(identity, features: features),
            settings: settings(impostor?.table ?? truth))
        if isCut { service.server.misbehave(.resetsInHandshake) }
        try add(service)
        let url = "https://\(place.uriText):\(service.port)/dns-query"
        let source = HijackSource(.doh, place, service.port, url: url, isProven: true)
        state.withLock { state in
            if impostor == nil { state.tellers.append(service) }
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

    /// The network's resolver has another port, where nobody stands between.
    func isAskedElsewhere(_ source: HijackSource) {
        state.withLock { $0.otherPort = source.port }
    }

    /// Somebody answers on a port of it where it does no DNS.
    func interceptsPort(_ source: HijackSource) {
        state.withLock { $0.vacantPort = source.port }
    }

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
