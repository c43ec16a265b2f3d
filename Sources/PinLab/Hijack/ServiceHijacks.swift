internal import HTTPDNSNames
internal import HTTPDNSWire

// HTTP-DNS services, and what is done to them.
extension HijackScenario {
    static let services: [HijackScenario] = [
        HijackScenario(
            "http-dns-tampered", .service,
            HijackWords(
                "answers of an HTTP-DNS service over plain HTTP are rewritten on the way",
                seen: "services that are asked over http, in networks that rewrite http",
                duty: "refuse where the answer leads; reach the origin by a proved resolver"),
            HijackFinding(.dnsHijacked, ["rewritten"])
        ) { (world) throws(LabError) in
            try world.begin()
            let liar = world.address(.liar)
            try world.liar(liar, identity: try world.foreign())
            let service = try LabHTTPDNSServer(
                address: world.address(.service), settings: world.settings(world.truth))
            service.misbehave(.lies([liar]))
            try world.add(service)
            world.answersTo(.free(service)) { _ in [liar] }
            world.steps(alone: .refused)
        },
        HijackScenario(
            "replayed-answer", .service,
            HijackWords(
                "an encrypted answer that was recorded before the origin moved is sent again",
                seen: "who can record and repeat what he cannot write; such answers carry no time",
                duty: "refuse who has the old address now; reach the origin by a proved resolver"),
            HijackFinding(.dnsHijacked, ["rewritten", "stale"])
        ) { (world) throws(LabError) in
            world.truly([world.address(.other)])
            try world.origin(.other)
            try world.honest()
            let old = world.address(.origin)
            try world.liar(old, identity: try world.neighbour())
            let tape = try HijackTape(world.host, [old])
            let answer = tape.answer
            let player = try LabServer(address: world.address(.service)) { _ in answer }
            try world.add(player)
            world.answersTo(tape.source(at: player)) { _ in [old] }
            world.steps(alone: .refused)
        },
        HijackScenario(
            "resolver-intercepted", .service,
            HijackWords(
                "who stands in the place of the proved resolver ends its TLS, and lies",
                seen: "companies and states that cannot read DNS over HTTPS otherwise",
                duty: "refuse the resolver; the network's own, which is honest here, is next"),
            HijackFinding(.clean)
        ) { (world) throws(LabError) in
            world.truly([world.address(.origin)])
            try world.origin()
            let liar = world.address(.liar)
            try world.liar(liar, identity: try world.foreign())
            try world.honest(impostor: (world.cast.gateway, LabTable(world.host, [liar])))
            let source = try world.resolver(saying: [world.address(.origin)])
            world.step("that resolver alone", .refused, of: world.sources.trusted)
            world.step("the network's alone", .genuine, of: [source])
            world.step("both", .genuine, of: world.sources.trusted + [source])
        },
        HijackScenario(
            "provider-down", .service,
            HijackWords(
                "the HTTP-DNS service does not answer", seen: "outages, blocked service addresses",
                duty: "go on to the next resolver"), HijackFinding(.clean)
        ) { (world) throws(LabError) in
            try world.begin()
            let service = try LabHTTPDNSServer(
                address: world.address(.service), settings: world.settings(world.truth))
            service.misbehave(.closesUnanswered)
            try world.add(service)
            let told = world.address(.origin)
            world.answersTo(.free(service)) { _ in [told] }
            let next = try world.dns(.resolver) { world.truth.answer($0) }
            let provider = world.sources.resolvers
            world.answersTo(next) { _ in [told] }
            world.step("the service alone", .refused, of: provider)
            world.step("with the network's resolver", .genuine, of: provider + [next])
            world.step("with a proved resolver", .genuine, of: provider + world.sources.trusted)
        },
    ]
}

extension HijackSource {
    /// The free service that has no https.
    fileprivate static func free(_ service: LabHTTPDNSServer) -> HijackSource {
        let server = service.server
        return HijackSource(
            .provider("dnspod-free"), server.address, server.port,
            url: "http://\(server.address.uriText):\(server.port)/d")
    }
}

/// An answer of an encrypting service, as it was recorded.
private struct HijackTape {
    /// What is played back, whatever is asked.
    let answer: LabResponse
    private let account: LabAccount

    /// What the service said when the host had these addresses.
    ///
    /// - Throws: ``LabError/notServed(_:)`` where OpenSSL lacks the cipher.
    init(_ host: HostName, _ addresses: [IPAddress]) throws(LabError) {
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        var account = LabAccount("100000", secret: "")
        account.cipherKey = Secret(Hex.encoded(key))
        self.account = account
        let question = "{\"dn\":\"\(host)\",\"q\":\"4,6\"}"
        guard let cipher = LabCipher(.aes128GCM, key: key),
            let sealed = cipher.sealed(Array(question.utf8), nil)
        else { throw .notServed("AES-128-GCM") }
        var settings = LabServiceSettings(table: LabTable(host, addresses))
        settings.accounts = [account]
        let request = LabRequest(
            connection: 0, serverName: nil, isSecure: false, method: "GET",
            target: "/v2/d?id=\(account.identifier)&m=2&v=1.0&enc=\(Hex.encoded(sealed))",
            fields: [], body: [])
        var exchange = ServiceExchange(
            request, settings, faults: [], place: (LabAddress.ipv4, .http), schedulesTold: 0)
        answer = exchange.answer(.aliyun2)
        guard answer.status == 200 else { throw .notServed("an answer to be recorded") }
    }

    /// The service, as a client knows it, at the one who plays the answer back.
    func source(at player: LabServer) -> HijackSource {
        HijackSource(
            .provider("aliyun-v2"), player.address, player.port,
            url: "http://\(player.address.uriText):\(player.port)", account: account.identifier,
            key: account.cipherKey)
    }
}
