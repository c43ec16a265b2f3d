internal import HTTPDNSNames

// What must not be called a hijack, and what is broken without a liar.
extension HijackScenario {
    static let controls: [HijackScenario] = [
        HijackScenario(
            "no-hijack", .none,
            HijackWords(
                "everybody tells the truth", seen: "most networks, most of the time",
                duty: "reach the origin"), HijackFinding(.clean)
        ) { (world) throws(LabError) in
            try world.begin()
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .genuine)
        },
        HijackScenario(
            "cdn-variation", .none,
            HijackWords(
                "resolvers tell different addresses, and each is the origin's",
                seen: "every content network: it answers by where the resolver is",
                duty: "reach the origin at either"), HijackFinding(.cdnVariation)
        ) { (world) throws(LabError) in
            try world.begin()
            try world.origin(.other)
            try world.resolver(saying: [world.address(.other)])
            world.steps(alone: .genuine)
        },
        HijackScenario(
            "dead-first-address", .none,
            HijackWords(
                "the first of two addresses is dead", seen: "a server of a pair that is down",
                duty: "go on to the second"), HijackFinding(.clean)
        ) { (world) throws(LabError) in
            try world.begin()
            let both = [world.address(.dead), world.address(.origin)]
            world.truly(both)
            try world.resolver(saying: both)
            world.steps(alone: .genuine)
        },
        HijackScenario(
            "origin-broken", .none,
            HijackWords(
                "the origin's own certificate has run out, whoever is asked for the address",
                seen: "a renewal that was forgotten", duty: "refuse: nobody proves the name"),
            HijackFinding(.originBroken), [.provesNothing]
        ) { (world) throws(LabError) in
            world.truly([world.address(.origin)])
            try world.origin(
                identity: try world.cast.root.leaf(
                    [.dns(world.host.description)], validity: .expired))
            try world.honest()
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .refused, together: .refused)
        },
        HijackScenario(
            "origin-wrong-name", .none,
            HijackWords(
                "the origin shows a sound certificate for another name, whatever it is asked",
                seen: "a site that was set up wrong, or that has moved to a shared server",
                duty: "refuse: it proves somebody else"), HijackFinding(.originBroken)
        ) { (world) throws(LabError) in
            world.truly([world.address(.origin)])
            try world.liar(world.address(.origin), identity: try world.neighbour())
            try world.honest()
            try world.resolver(saying: [world.address(.origin)])
            world.steps(alone: .refused, together: .refused)
        },
        offline,
    ]

    private static var offline: HijackScenario {
        // That servers on this machine are silent says little of its network.
        var finding = HijackFinding(.inconclusive, ["trusted_answer", "network_answer"])
        finding.alternatives = [.offline]
        return HijackScenario(
            "offline", .none,
            HijackWords(
                "nobody answers, nowhere", seen: "a cable that is out, a radio that is off",
                duty: "fail, and in time"), finding, [.silent, .meetsNobody]
        ) { (world) throws(LabError) in
            // Ports that were free a moment ago, at an address that nobody uses.
            let place = world.address(.dead)
            guard let free = try? LabServer(address: place, handler: { _ in .never }) else {
                throw .notServed("a port of \(place)")
            }
            let port = free.port
            free.stop()
            world.answersTo(HijackSource(.datagram, place, port)) { _ in [] }
            world.trusts(
                HijackSource(
                    .doh, place, port, url: "https://\(place.uriText):\(port)/dns-query",
                    isProven: true))
            world.steps(alone: .refused, together: .refused)
        }
    }
}
