internal import HTTPDNSNames

// What stands between a client and the right address.
extension HijackScenario {
    static let paths: [HijackScenario] = [
        HijackScenario(
            "captive-portal", .path,
            HijackWords(
                "every name leads to the portal until somebody logs in; nothing else gets out",
                seen: "hotels, trains, airports",
                duty: "refuse the portal; nothing is reachable before the log-in"),
            HijackFinding(.captivePortal)
        ) { (world) throws(LabError) in
            world.truly([world.address(.dead)])
            let portal = world.address(.liar)
            try world.liar(
                portal, identity: try TestAuthority.selfSigned(["portal.invalid"]))
            world.portal(.redirect(to: "http://portal.invalid/login"))
            try world.resolver { $0.answer([portal], ttlSeconds: 1) }
            // Also what is proved does not get out.
            try world.honest(isCut: true)
            world.steps(alone: .refused, together: .refused)
        },
        interception(
            "tls-interception",
            "who stands at the right address makes certificates by an authority of his own",
            seen: "companies, schools, some states"
        ) { $0.gateway },
        interception(
            "tls-interception-product",
            "the same, and the name of the authority says which product it is",
            seen: "virus scanners, firewalls, debugging proxies"
        ) { $0.product },
        HijackScenario(
            "tls-interception-other-name", .path,
            HijackWords(
                "who names the host in the first message gets a sound certificate for another name",
                seen: "block pages of access providers",
                duty: "refuse: it proves somebody else"), HijackFinding(.tlsIntercepted)
        ) { (world) throws(LabError) in
            world.truly([world.address(.origin)])
            let origin = try world.origin(.hidden)
            let page = try world.liar(
                world.address(.liar), identity: try world.leaf(["block-page.hijack.test"]))
            try world.filter(origin, .diverts(to: page))
            try world.honest()
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .refused, together: .refused)
        },
        filter(
            "sni-filter-reset", "a box on the way resets what names the host in its first message",
            .resets),
        filter(
            "sni-filter-timeout",
            "a box on the way swallows what names the host in its first message",
            .swallows, [.stall]),
        HijackScenario(
            "address-blocked", .path,
            HijackWords(
                "the right address cannot be reached from here",
                seen: "addresses that a router drops, whatever name leads to them",
                duty: "fail: another address would be needed"), HijackFinding(.addressBlocked),
            [.meetsNobody]
        ) { (world) throws(LabError) in
            try world.begin()
            try world.leave(.origin)
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .refused, together: .refused)
        },
    ]

    private static func interception(
        _ name: String, _ deed: String, seen: String,
        _ authority: @escaping @Sendable (HijackCast) -> TestAuthority
    ) -> HijackScenario {
        HijackScenario(
            name, .path,
            HijackWords(
                deed, seen: seen, duty: "refuse: the authority is not one that the client knows"),
            HijackFinding(.tlsIntercepted)
        ) { (world) throws(LabError) in
            world.truly([world.address(.origin)])
            try world.interceptor(authority(world.cast))
            try world.honest()
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .refused, together: .refused)
        }
    }

    private static func filter(
        _ name: String, _ deed: String, _ what: NameFilter.Deed,
        _ traits: Set<Trait> = []
    ) -> HijackScenario {
        HijackScenario(
            name, .path,
            HijackWords(
                deed, seen: "national firewalls; filters of access providers",
                duty: "fail: no address helps, and nothing is sent"),
            HijackFinding(.sniFiltered), traits
        ) { (world) throws(LabError) in
            world.truly([world.address(.origin)])
            let origin = try world.origin(.hidden)
            try world.filter(origin, what)
            try world.honest()
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .refused, together: .refused)
        }
    }
}

// The client's own machine.
extension HijackScenario {
    static let clocks: [HijackScenario] = [
        clock("clock-behind", "behind", shift: year),
        clock("clock-ahead", "ahead", shift: -year),
    ]

    private static func clock(
        _ name: String, _ words: String, shift: Int64
    ) -> HijackScenario {
        HijackScenario(
            name, .machine,
            HijackWords(
                "the client's clock is a year \(words): nobody's certificate is valid by it",
                seen: "boards without a battery, virtual machines that slept",
                duty: "refuse: without the time nobody can prove a name"),
            HijackFinding(.inconclusive, ["right_clock"]), [.provesNothing]
        ) { (world) throws(LabError) in
            // Instead of this machine's clock, which is everybody's, all others are moved.
            world.shift(seconds: shift)
            try world.begin()
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .refused, together: .refused)
        }
    }

    /// Because: 365 days are longer than any certificate here is valid.
    private static let year: Int64 = 31_536_000
}
