internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

// What resolvers answer instead of the truth.
extension HijackScenario {
    static let answers: [HijackScenario] = [
        HijackScenario(
            "plain-poisoning", .dns,
            HijackWords(
                "the network's resolver tells an address of its own for the name",
                seen: "resolvers of access providers, poisoned caches, malware in routers",
                duty:
                    "refuse who cannot prove the name; reach the origin by a proved resolver"
            ), HijackFinding(.dnsHijacked, ["rewritten"])
        ) { (world) throws(LabError) in
            try world.begin()
            try world.liar(world.address(.liar), identity: try world.foreign())
            try world.resolver(saying: [world.address(.liar)])
            world.steps(alone: .refused)
        },
        HijackScenario(
            "poisoned-aaaa", .dns,
            HijackWords(
                "A is true, AAAA is a liar's", seen: "filters that know IPv4 and IPv6 apart",
                duty: "leave the IPv6 address, which cannot prove the name, for the IPv4 one"),
            HijackFinding(.dnsHijacked, ["rewritten"])
        ) { (world) throws(LabError) in
            try world.begin()
            do throws(LabError) {
                try world.liar(LabAddress.ipv6, identity: try world.foreign())
            } catch {
                guard case .system(_, let code) = error, code != HijackScenario.addressInUse else {
                    throw error
                }
                throw .notServed("IPv6: this machine has no ::1")
            }
            try world.resolver(saying: [world.address(.origin), LabAddress.ipv6])
            world.steps(alone: .genuine)
        },
        HijackScenario(
            "forged-race", .dns,
            HijackWords(
                "a forged answer arrives before the real one to the same query",
                seen: "national firewalls: who listens on the way is nearer than the server",
                duty: "refuse where the forged answer leads"),
            HijackFinding(.dnsHijacked, ["forged"])
        ) { (world) throws(LabError) in
            try world.begin()
            let liar = world.address(.liar)
            try world.liar(liar, identity: try world.foreign())
            let host = world.host.description
            try world.resolver { question in
                let real = world.truth.answer(question)
                guard !question.isTCP, question.text == host, question.type == .a else {
                    return real
                }
                return real.conducting(.forgesFirst(question.answer([liar]).answers))
            }
            world.steps(alone: .refused)
        },
        HijackScenario(
            "nxdomain-rewriting", .dns,
            HijackWords(
                "names that do not exist get the address of a search page",
                seen: "access providers that sell mistyped names",
                duty: "reach what exists; refuse the search page for what does not"),
            HijackFinding(.dnsHijacked, ["rewritten"])
        ) { (world) throws(LabError) in
            try world.begin()
            let page = world.address(.liar)
            try world.liar(page, identity: try world.foreign())
            let source = try world.resolver { question in
                let real = world.truth.answer(question)
                return real.code == .noSuchName ? question.answer([page]) : real
            }
            let missing = "missing." + world.host.description
            world.step("a name that exists", .genuine, of: [source])
            world.step("a name that does not", .refused, of: [source], host: missing)
            world.step("with a proved resolver", .genuine, of: world.sources.trusted + [source])
        },
        interception, redirect, inspection,
    ]

    /// Whatever is sent to the port of DNS over UDP is answered by somebody on the way, whomever it is
    /// for; TCP is let through.
    private static let interception = HijackScenario(
        "port-53-interception", .dns,
        HijackWords(
            "what goes to any DNS server over UDP is answered by somebody on the way",
            seen: "routers and access providers that redirect port 53, whatever server was chosen",
            duty: "refuse where the answer leads; TCP and proved resolvers reach the origin"),
        HijackFinding(.dnsHijacked, ["intercepted"])
    ) { (world) throws(LabError) in
        try world.begin()
        let liar = world.address(.liar)
        try world.liar(liar, identity: try world.foreign())
        let zone: LabDNSServer.Zone = { question in
            question.isTCP
                ? world.truth.answer(question) : question.answer([liar])
        }
        let source = try world.resolver(zone)
        // Nobody serves DNS there, and yet there is an answer.
        world.intercepts(
            try world.dns(.vacant) { $0.isTCP ? LabAnswer().conducting(.hangsUp) : zone($0) })
        world.step("UDP alone", .refused, of: [source])
        world.step(
            "TCP alone", .genuine, of: [HijackSource(.stream, source.address, source.port)])
        world.step("with a proved resolver", .genuine, of: world.sources.trusted + [source])
    }

    /// What goes to the usual port of the resolver never reaches it; to another one it does.
    private static let redirect = HijackScenario(
        "port-53-redirect", .dns,
        HijackWords(
            "what goes to the resolver's usual port is answered by somebody on the way, by UDP and "
                + "TCP; its other port is forgotten",
            seen: "access providers that take port 53, and public resolvers with a second port",
            duty: "refuse where the answer leads; the other port and proved resolvers reach the "
                + "origin"),
        HijackFinding(.dnsHijacked, ["intercepted"])
    ) { (world) throws(LabError) in
        try world.begin()
        let liar = world.address(.liar)
        try world.liar(liar, identity: try world.foreign())
        let host = world.host.description
        let source = try world.resolver { question in
            question.text == host ? question.answer([liar]) : world.truth.answer(question)
        }
        let other = try world.dns(.resolver) { world.truth.answer($0) }
        world.isAskedElsewhere(other)
        world.step("the usual port", .refused, of: [source])
        world.step("the other port", .genuine, of: [other])
        world.step("with a proved resolver", .genuine, of: world.sources.trusted + [source])
    }

    /// Whatever looks like a question is answered on the way, on ports, too, where nobody serves DNS.
    private static let inspection = HijackScenario(
        "dns-inspection", .dns,
        HijackWords(
            "whatever looks like a DNS question is answered by somebody on the way, on any port",
            seen: "firewalls that know DNS by its form, and not by its port",
            duty: "refuse where the answer leads; reach the origin by a proved resolver"),
        HijackFinding(.dnsHijacked, ["intercepted"])
    ) { (world) throws(LabError) in
        try world.begin()
        let liar = world.address(.liar)
        try world.liar(liar, identity: try world.foreign())
        let host = world.host.description
        let zone: LabDNSServer.Zone = { question in
            question.text == host ? question.answer([liar]) : world.truth.answer(question)
        }
        try world.resolver(zone)
        world.interceptsPort(try world.dns(.resolver, zone))
        world.steps(alone: .refused)
    }

    /// Source: errno(3), EADDRINUSE of Linux.
    private static let addressInUse: Int32 = 98
}

// Names that are made to lead nowhere.
extension HijackScenario {
    static let blocks: [HijackScenario] = [
        block("blocked-nxdomain", "says that the name does not exist") { $0.noSuchName() },
        block("blocked-refused", "refuses to answer for the name") { _ in .refused },
        block("blocked-sinkhole", "tells 0.0.0.0 for the name") { question in
            question.answer(IPAddress(octets: [0, 0, 0, 0]).map { [$0] } ?? [])
        },
    ]

    private static func block(
        _ name: String, _ deed: String, _ answer: @escaping LabDNSServer.Zone
    ) -> HijackScenario {
        HijackScenario(
            name, .dns,
            HijackWords(
                "the network's resolver " + deed,
                seen: "filters of access providers, companies, families",
                duty: "fail with it alone; reach the origin by a proved resolver"),
            HijackFinding(.dnsHijacked, ["blocked"]), [.meetsNobody]
        ) { (world) throws(LabError) in
            try world.begin()
            let host = world.host.description
            try world.resolver { question in
                question.text == host ? answer(question) : world.truth.answer(question)
            }
            world.steps(alone: .refused)
        }
    }
}

// Answers that were true, or will be changed.
extension HijackScenario {
    static let moves: [HijackScenario] = [
        HijackScenario(
            "stale-answer", .dns,
            HijackWords(
                "the resolver tells the address that the origin left; somebody else has it now",
                seen: "caches that do not let go, after a server has moved",
                duty: "refuse who has the address now; reach the origin by a proved resolver"),
            HijackFinding(.dnsHijacked, ["stale"])
        ) { (world) throws(LabError) in
            world.truly([world.address(.other)])
            try world.origin(.other)
            try world.honest()
            try world.liar(world.address(.origin), identity: try world.neighbour())
            // Source: RFC 8767 §4, which recommends 30 seconds; RFC 8914 §4.4.
            let old = world.address(.origin)
            let host = world.host.description
            try world.resolver { question in
                guard question.text == host else { return world.truth.answer(question) }
                var answer = question.answer([old], ttlSeconds: 30)
                answer.extendedError = 3
                return answer
            }
            world.steps(alone: .refused)
        },
        HijackScenario(
            "ttl-inflation", .dns,
            HijackWords(
                "the resolver tells the true address, to be kept for 68 years",
                seen: "caches of access providers that override TTLs",
                duty: "reach the origin, and once more after it has moved"),
            HijackFinding(.clean)
        ) { (world) throws(LabError) in
            try world.begin()
            let host = world.host.description
            let source = try world.resolver { question in
                guard question.text == host else { return world.truth.answer(question) }
                let addresses = world.truth.entries[world.host]?.addresses ?? []
                // Source: RFC 2181 §8, the largest TTL.
                return question.answer(addresses, ttlSeconds: 2_147_483_647)
            }
            world.step("before the origin moves", .genuine, of: [source])
            world.step("after it moved", .genuine, of: [source], goesOn: true, after: moves)
            world.step("with a proved resolver", .genuine, of: world.sources.trusted + [source])
        },
        HijackScenario(
            "dns-rebinding", .dns,
            HijackWords(
                "the name leads to the origin at first, and later into the client's own network",
                seen: "pages that want to speak to routers and printers of their readers",
                duty: "refuse what stands inside, which cannot prove the name"),
            HijackFinding(.dnsHijacked, ["rewritten"])
        ) { (world) throws(LabError) in
            try world.begin()
            let inside = world.address(.liar)
            try world.liar(inside, identity: try world.foreign())
            try rebinds(world, to: [inside])
        },
        privateRebinding,
    ]

    /// Into a network that nobody here is in: for clients that do not go there.
    private static let privateRebinding = HijackScenario(
        "dns-rebinding-private", .dns,
        HijackWords(
            "a public name leads to the origin at first, and later to 10.0.0.1",
            seen: "pages that want to speak to routers and printers of their readers",
            duty: "refuse the answer: no public name has such an address"),
        HijackFinding(.dnsHijacked, ["rewritten"]), [.isPublic, .leadsOut]
    ) { (world) throws(LabError) in
        try world.begin()
        let inside = IPAddress(octets: [10, 0, 0, 1]).map { [$0] } ?? []
        try rebinds(world, to: inside)
    }

    /// The resolver tells the truth, and from the second step on these addresses.
    private static func rebinds(
        _ world: HijackWorld, to inside: [IPAddress]
    ) throws(LabError) {
        let isRebound = Locked(false)
        let host = world.host.description
        let source = try world.resolver { question in
            guard question.text == host, isRebound.withLock({ $0 }) else {
                var answer = world.truth.answer(question)
                answer.setTTL(seconds: 0)
                return answer
            }
            return question.answer(inside, ttlSeconds: 0)
        }
        world.step("before", .genuine, of: [source])
        world.step("after", .refused, of: [source], goesOn: true) { _ in
            isRebound.withLock { $0 = true }
        }
        world.step("with a proved resolver", .genuine, of: world.sources.trusted + [source])
    }

    /// The origin goes to its other address, and a neighbour takes the first.
    @Sendable private static func moves(_ world: HijackWorld) throws(LabError) {
        try world.origin(.other)
        try world.leave(.origin)
        try world.liar(world.address(.origin), identity: try world.neighbour())
        world.truly([world.address(.other)])
    }
}

extension HijackWorld {
    /// A certificate of nobody that clients know, for a name that nobody asks for.
    func foreign() throws(LabError) -> TestIdentity {
        try cast.stranger.leaf(["hijacker.invalid"], validity: validity.withLock { $0 })
    }

    /// A sound certificate for somebody else.
    func neighbour() throws(LabError) -> TestIdentity { try leaf(["neighbour.hijack.test"]) }
}

extension LabAnswer {
    /// The same with this TTL in every record.
    mutating func setTTL(seconds: UInt32) {
        answers = answers.map {
            ResourceRecord(name: $0.name, type: $0.type, ttlSeconds: seconds, data: $0.data)
        }
    }
}
