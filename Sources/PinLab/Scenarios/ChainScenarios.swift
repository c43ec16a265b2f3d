// When certificates are valid.
extension LabScenario {
    static let dates: [LabScenario] = [
        dated("expired", "a certificate that expired an hour ago", ["expired"], "expired") {
            $0.recipe.validity = .expired
        },
        dated("not-yet-valid", "a certificate of tomorrow", [], "not_yet_valid") {
            $0.recipe.validity = .notYet
        },
        dated(
            "expired-intermediate", "a sound certificate under an expired authority", [], "expired"
        ) {
            plan in
            plan.authority = { (cast) throws(LabError) in
                try cast.root.intermediate("Expired Intermediate", validity: .expired)
            }
        },
    ]

    private static func dated(
        _ name: String, _ deed: String, _ badssl: [String], _ code: String,
        _ fault: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .dates, deed: deed,
            expectation: .refuse(
                "nobody answers for it outside its dates", "RFC 5280 §4.1.2.5", code),
            needs: [], badssl: badssl, setting: { _ in }, fault: fault)
    }
}

// Whom certificates lead to, and over whom.
extension LabScenario {
    static let chains: [LabScenario] =
        [
            chained(
                "self-signed", "a certificate that signs itself", badssl: ["self-signed"],
                .refuse("anybody can make one", "RFC 5280 §6.1", "self_signed"),
                fault: { $0.isSelfSigned = true }),
            chained(
                "untrusted-root", "a chain to a root that the client does not trust",
                badssl: ["untrusted-root"],
                .refuse("anybody can make one", "RFC 5280 §6.1", "unknown_issuer"),
                fault: { $0.authority = stranger }),
            chained(
                "untrusted-root-sent", "the same, and the unknown root is sent along",
                .refuse(
                    "a root is trusted because it was known before", "RFC 8446 §4.4.2",
                    "unknown_issuer"),
                fault: { plan in
                    plan.authority = stranger
                    plan.change = { (cast, identity) throws(LabError) in
                        identity.issuers = [cast.stranger.identity.certificate]
                    }
                }),
            chained(
                "missing-intermediate",
                "the intermediate is not sent, and nothing says where it is",
                badssl: ["incomplete-chain"],
                .refuse("nothing leads to a trusted root", "RFC 5280 §6.1", "unknown_issuer"),
                fault: { $0.change = { (_, identity) throws(LabError) in identity.issuers = [] } }),
            chained(
                "root-sent", "the root is sent along",
                .accept("it may be, and changes nothing", "RFC 8446 §4.4.2"),
                { plan in
                    plan.change = { (cast, identity) throws(LabError) in
                        identity.issuers.append(cast.root.identity.certificate)
                    }
                }),
            chained(
                "reversed-chain", "the intermediates in reverse order",
                .accept("clients should sort them", "RFC 8446 §4.4.2"),
                { plan in
                    plan.authority = { (cast) throws(LabError) in
                        try cast.intermediate.intermediate("Second Intermediate")
                    }
                    plan.change = { (_, identity) throws(LabError) in identity.issuers.reverse() }
                }),
            chained(
                "extra-certificates", "certificates that belong to nothing, between those that do",
                .accept("clients should pass over them", "RFC 8446 §4.4.2"),
                { plan in
                    plan.change = { (cast, identity) throws(LabError) in
                        let extra = [cast.stranger.identity.certificate, cast.spare.certificate]
                        identity.issuers = extra + identity.issuers + extra
                    }
                }),
            chained(
                "bad-signature", "a certificate with a damaged signature",
                .refuse(
                    "nobody signed what it says", "RFC 5280 §6.1.3", "bad_signature",
                    "unknown_issuer"),
                fault: { $0.change = damageSignature }),
            chained(
                "unknown-critical-extension", "a critical extension that nobody knows",
                .refuse("what is critical must be understood", "RFC 5280 §4.2", "bad_certificate"),
                fault: { plan in
                    plan.recipe.extensions.append(
                        TestExtension("1.3.6.1.4.1.55738.666.1", "critical,DER:0500"))
                }),
        ] + authorities

    /// Who may issue what.
    private static let authorities: [LabScenario] = [
        chained(
            "name-constraint", "an authority that may issue for other names only",
            .refuse("the authority has no say here", "RFC 5280 §4.2.1.10", "name_constraint"),
            { $0.authority = constrained(.permits(["lab.test"])) },
            fault: { $0.authority = constrained(.permits(["other.test"])) }),
        chained(
            "name-constraint-excluded", "an authority that may issue for all names but these",
            .refuse("the authority has no say here", "RFC 5280 §4.2.1.10", "name_constraint"),
            { $0.authority = constrained(.excludes(["other.test"])) },
            fault: { $0.authority = constrained(.excludes(["lab.test"])) }),
        chained(
            "wrong-eku", "a certificate for clients",
            .refuse("it was not given out for servers", "RFC 5280 §4.2.1.12", "not_for_servers"),
            fault: { $0.recipe.usage = "clientAuth" }),
        chained(
            "leaf-as-ca", "a chain over a server's certificate",
            .refuse(
                "everybody with a certificate would be an authority", "RFC 5280 §4.2.1.9",
                "not_a_ca"),
            fault: { plan in
                plan.authority = { (cast) throws(LabError) in
                    let middle = try cast.intermediate.leaf(
                        ["middle.lab.test"], commonName: "middle")
                    return TestAuthority(misusing: middle)
                }
            }),
        chained(
            "path-too-long", "an authority below one that may have none below it",
            .refuse("the authority went beyond its rights", "RFC 5280 §4.2.1.9", "path_too_long"),
            { $0.authority = below(pathLength: 1) }, fault: { $0.authority = below(pathLength: 0) }),
        chained(
            "ca-as-leaf", "an authority's certificate as a server's",
            .either(
                "public authorities must not do it; RFC 5280 does not forbid it",
                "CA/B BR §7.1.2.7.8", "ca_as_server"),
            { plan in plan.recipe.role = .authority(pathLength: nil) }),
    ]

    /// Roots whose private keys everybody has, for they came with a program: whoever trusts one trusts
    /// anybody. The names are those of the programs; the keys are the laboratory's own, and no client
    /// that is told one root trusts them.
    static let leakedRoots: [LabScenario] = [
        leaked("superfish-root", "superfish", "Superfish, Inc.", "an advertising program of 2014"),
        leaked("edellroot-root", "edellroot", "eDellRoot", "a maker's support program of 2015"),
        leaked(
            "dsdtestprovider-root", "dsdtestprovider", "DSDTestProvider",
            "a maker's system program of 2015"),
        leaked("preact-cli-root", "preact-cli", "preact-cli", "a development server"),
        leaked(
            "webpack-dev-server-root", "webpack-dev-server", "webpack-dev-server",
            "a development server"),
    ]

    private static func leaked(
        _ name: String, _ badssl: String, _ root: String, _ origin: String
    ) -> LabScenario {
        chained(
            name, "a certificate by the root \(root), which came with \(origin)", badssl: [badssl],
            .refuse("everybody has its private key", "RFC 5280 §6.1.1 (d)", "unknown_issuer"),
            fault: { plan in
                plan.authority = { (cast) throws(LabError) in
                    try TestAuthority(root, seed: cast.seed)
                }
            })
    }

    private static let damageSignature: LabPlan.ChangeChain = { (_, identity) throws(LabError) in
        var damaged = identity.certificate
        // The last octet belongs to s of the signature.
        damaged[damaged.count - 1] ^= 1
        identity = try TestIdentity(
            certificate: damaged, privateKey: identity.privateKey, issuers: identity.issuers)
    }

    private static func constrained(_ constraint: TestExtension) -> LabPlan.Authority {
        { (cast) throws(LabError) in
            var authority = TestRecipe.authority("Constrained Intermediate")
            authority.extensions = [constraint]
            return try cast.root.authority(authority)
        }
    }

    private static func below(pathLength: Int) -> LabPlan.Authority {
        { (cast) throws(LabError) in
            try cast.root.intermediate("First Intermediate", pathLength: pathLength)
                .intermediate("Second Intermediate")
        }
    }

    private static func chained(
        _ name: String, _ deed: String, badssl: [String] = [], _ expectation: LabExpectation,
        _ setting: @escaping Change = { _ in }, fault: Change? = nil
    ) -> LabScenario {
        LabScenario(
            name: name, group: .chains, deed: deed, expectation: expectation, needs: [],
            badssl: badssl, setting: setting, fault: fault)
    }
}
