public import HTTPDNSNames
internal import HTTPDNSPlatform
public import HTTPDNSTrust

/// Where scenarios are played: one root that clients trust, and a server of its own for each scenario,
/// started when it is asked for.
///
///     let bench = try LabBench()
///     let stage = try bench.open(.named("wrong-pin"))
///     defer { stage.stop() }
///     // … a client goes to stage.target.url, trusts stage.target.authorityPEM …
///     #expect(stage.record.receivedOctets == 0)
///
/// Everything is on loopback. Any thread may call.
public final class LabBench: Sendable {
    /// The root that clients are to trust, in PEM.
    public var authorityPEM: String { cast.root.certificatePEM }
    /// The logs of Certificate Transparency that clients know, one key in base64 a line.
    public var logList: String { cast.log.listLine }
    private let cast: LabCast

    /// A bench with certificates of its own.
    ///
    /// - Parameter seed: What keys and certificates follow from, so that they are the same in every
    ///   run; nil: they are random. Trust no root outside a test whose seed anybody knows.
    /// - Throws: ``LabError``.
    public init(seed: String? = nil) throws(LabError) {
        cast = try LabCast(seed: seed)
    }

    /// Starts what the scenario needs.
    ///
    /// - Parameters:
    ///   - scenario: Which one.
    ///   - port: Where it listens on 127.0.0.1; nil for a free port.
    /// - Throws: ``LabError``; ``LabError/notServed(_:)`` where this OpenSSL cannot misbehave so.
    public func open(_ scenario: LabScenario, port: Port? = nil) throws(LabError) -> LabStage {
        var plan = LabPlan(name: scenario.name)
        scenario.setting(&plan)
        scenario.fault?(&plan)
        return try LabStage(scenario, plan, cast, port: port)
    }
}

/// All that a client needs to know of a scenario.
public struct LabTarget: Sendable, Hashable {
    /// `https://wrong-pin.lab.test:40123/`.
    public let url: String
    /// Whom the client means: a name, or an address.
    public let host: String
    /// Where it connects.
    public let address: IPAddress
    /// And on which port.
    public let port: Port
    /// Whom it trusts, in PEM.
    public let authorityPEM: String
    /// The keys that it accepts, where it is told any.
    public let pins: [Pin]
    /// The logs that it knows, one key in base64 a line.
    public let logList: String
    /// The revocation lists that it is told, in PEM; nil: none.
    public let revocationLists: String?
}

/// One request of a scenario; most scenarios have one.
public struct LabStep: Sendable, Hashable {
    /// What is asked for.
    public let url: String
    /// Whom the client means.
    public let host: String
    /// The keys that it accepts for this request; empty: it is told none.
    public let pins: [Pin]
    /// What is right; nil where both are.
    public let isAccepted: Bool?
}

/// A scenario on a ``LabBench``, its servers running.
public final class LabStage: Sendable {
    /// What is played.
    public let scenario: LabScenario
    /// What a client needs to know.
    public let target: LabTarget
    /// The requests, in order, of one client. Each may accept other keys than the one before.
    public let steps: [LabStep]
    private let server: LabServer
    private let second: LabServer?

    /// What the server has seen until now.
    public var record: LabRecord { server.record }
    /// What the server behind the redirect has seen; nil when there is none.
    public var secondRecord: LabRecord? { second?.record }
    /// The ports that belong to it.
    var ports: [Port] { [server.port] + (second.map { [$0.port] } ?? []) }

    init(
        _ scenario: LabScenario, _ plan: LabPlan, _ cast: LabCast, port: Port?
    ) throws(LabError) {
        self.scenario = scenario
        let authority = try plan.authority(cast)
        let mint = { (recipe: TestRecipe) throws(LabError) in
            try plan.identity(recipe, by: authority, cast)
        }
        let leaf = try mint(plan.recipe)
        var others: [String: TestIdentity] = [:]
        for (name, recipe) in plan.others { others[name] = try mint(recipe) }
        let later = try plan.later.map(mint)
        second = try LabStage.second(plan, cast, leaf)
        server = try LabStage.server(
            plan, Shown(first: leaf, others: others, later: later), second, port)
        // An address is never sent as a server name.
        let isAddress = (try? IPAddress(plan.host)) != nil
        let pins = plan.pins(cast, (isAddress ? nil : others[plan.host]) ?? leaf)
        target = LabTarget(
            url: server.url(host: plan.host), host: plan.host, address: server.address,
            port: server.port, authorityPEM: cast.root.certificatePEM, pins: pins,
            logList: cast.log.listLine,
            revocationLists: try plan.lists?(authority, cast, leaf))
        steps = LabStage.steps(scenario, plan, server, pins, wrong: [cast.spare.pin])
        try server.start()
        try second?.start()
    }

    /// Whether that is what the scenario wants of a client: the outcome, and that no request was sent to
    /// a server that must be refused.
    public func expects(accepted: Bool) -> Bool {
        let outcome = accepted ? LabOutcome.accepted : .refused(nil)
        return grade(outcome) == .passed
    }

    /// How a client did that made the one request. Waits for connections that are still open.
    public func grade(_ outcome: LabOutcome) -> LabGrade {
        awaitConnections()
        return LabGrade(scenario, outcome, server: record, second: secondRecord)
    }

    /// How a client did. Waits for connections that are still open.
    public func grade(_ play: LabPlay) -> LabGrade {
        if let trouble = play.trouble { return .missed("not run: " + trouble) }
        awaitConnections()
        let outcome = play.outcomes.last ?? .refused(nil)
        let grade =
            steps.count > 1
            ? LabGrade(steps, play.outcomes, record)
            : LabGrade(scenario, outcome, server: record, second: secondRecord)
        return play.checksCodes ? grade.checked(scenario, play.outcomes) : grade
    }

    /// Whether a request arrived where it must not, or anywhere at all.
    var wasRequestSent: Bool { (secondRecord ?? record).receivedOctets > 0 }

    private func awaitConnections() {
        _ = server.awaitConnectionsEnded()
        _ = second?.awaitConnectionsEnded()
    }

    /// Ends the servers.
    public func stop() {
        server.stop()
        second?.stop()
    }

    /// The certificates of one server.
    private struct Shown {
        let first: TestIdentity
        /// To who asks for these names.
        let others: [String: TestIdentity]
        /// From the second connection on.
        let later: TestIdentity?
    }

    private static func server(
        _ plan: LabPlan, _ shown: Shown, _ second: LabServer?, _ port: Port?
    ) throws(LabError) -> LabServer {
        let location = second?.url(host: LabAddress.ipv4.description)
        let server = try LabServer(
            port: port,
            security: .tls(
                shown.first, byName: shown.others, versions: plan.versions,
                features: plan.features),
            fault: plan.fault
        ) { request in
            if let location { return .redirect(to: location) }
            let isMisdirected = plan.misdirects && request.name != request.serverName
            if isMisdirected { return .text("another host\n", status: 421) }
            var response = LabResponse.text("lab: this is \(request.name ?? "nobody")\n")
            if plan.closes { response.fields.append(LabField("Connection", "close")) }
            return response
        }
        if let later = shown.later {
            let context = try TLSContext(
                later, versions: plan.versions, features: plan.features)
            let handshakes = Locked(0)
            server.chooseIdentity { _ in
                let isFirst = handshakes.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? nil : context
            }
        }
        return server
    }

    /// Its key is the first server's: a client that was told that one has no other reason to refuse.
    private static func second(
        _ plan: LabPlan, _ cast: LabCast, _ leaf: TestIdentity
    ) throws(LabError) -> LabServer? {
        guard let recipe = plan.redirect else { return nil }
        var identity = try cast.intermediate.certificate(recipe, reusingKeyOf: leaf)
        identity.staple = try cast.intermediate.ocspResponse(for: identity)
        return try LabServer(security: .tls(identity)) { _ in .text("lab: redirected\n") }
    }

    private static func steps(
        _ scenario: LabScenario, _ plan: LabPlan, _ server: LabServer, _ pins: [Pin], wrong: [Pin]
    ) -> [LabStep] {
        guard plan.steps.isEmpty else {
            return plan.steps.map { step in
                let told: [Pin] =
                    switch step.pins {
                    case .none: []
                    case .right: pins
                    case .wrong: wrong
                    }
                return LabStep(
                    url: server.url(host: step.host), host: step.host, pins: told,
                    isAccepted: step.isAccepted)
            }
        }
        let isAccepted: Bool? =
            switch scenario.expectation.verdict {
            case .accept: true
            case .refuse: false
            case .either: nil
            }
        return [
            LabStep(
                url: server.url(host: plan.host), host: plan.host,
                pins: scenario.needs.contains(.pin) ? pins : [], isAccepted: isAccepted)
        ]
    }
}

extension LabRequest {
    /// The name in `Host`, without a port.
    fileprivate var name: String? { host.map { String($0.prefix { $0 != ":" }) } }
}
