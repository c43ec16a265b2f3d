// Whether a certificate was revoked, as its server's stapled OCSP response says.
extension LabScenario {
    static let status: [LabScenario] =
        [
            stapled(
                "staple-good", "a response that says: not revoked",
                .accept("the response is satisfactory", "RFC 6960 §4.2.2"), { _ in }),
            stapled(
                "staple-revoked", "a response that says: revoked", badssl: ["revoked"],
                .refuse("the key is somebody else's by now", "RFC 6066 §8", "revoked"),
                { _ in },
                fault: { plan in
                    plan.staple = { (authority, _, leaf) throws(LabError) in
                        try authority.ocspResponse(for: leaf, .revoked)
                    }
                }),
            stapled(
                "staple-expired", "a response that has expired, for a certificate that demands one",
                .refuse(
                    "an old response hides what happened since", "RFC 7633 §4.2.3",
                    "staple_invalid",
                    "staple_missing"), mustStaple,
                fault: { plan in
                    plan.staple = { (authority, _, leaf) throws(LabError) in
                        try authority.ocspResponse(for: leaf, validity: .expired)
                    }
                }),
            stapled(
                "staple-other-certificate",
                "a response for another certificate, where one is demanded",
                .refuse(
                    "it says nothing of this certificate", "RFC 7633 §4.2.3", "staple_invalid",
                    "staple_missing"), mustStaple,
                fault: { plan in
                    plan.staple = { (authority, cast, _) throws(LabError) in
                        try authority.ocspResponse(for: cast.spare)
                    }
                }),
            stapled(
                "staple-wrong-signer",
                "a response that somebody else signed, where one is demanded",
                .refuse(
                    "only the authority or its delegate can tell", "RFC 6960 §4.2.2.2",
                    "staple_invalid", "staple_missing"), mustStaple,
                fault: { plan in
                    plan.staple = { (authority, cast, leaf) throws(LabError) in
                        try authority.ocspResponse(
                            for: leaf, signer: cast.stranger.identity)
                    }
                }),
            stapled(
                "must-staple", "a certificate that demands a response, and the response",
                .accept("it is there, and satisfactory", "RFC 7633 §4.2.3"), mustStaple),
            stapled(
                "must-staple-missing", "a certificate that demands a response, and none",
                .refuse("a thief would leave it out", "RFC 7633 §4.2.3", "staple_missing"),
                mustStaple,
                fault: { $0.staple = { (_, _, _) throws(LabError) in nil } }),
            LabScenario(
                name: "no-sct", group: .status, deed: "a certificate that is in no public log",
                expectation: .either(
                    "authorities of one's own do not log; a browser may demand it of public ones",
                    "RFC 9162 §1"),
                needs: [], badssl: ["no-sct"], setting: { _ in }, fault: nil),
        ] + lists + logs

    /// What the revocation lists say that a client is given.
    private static let lists: [LabScenario] = [
        listed(
            "crl-good", "a certificate that its authority's list does not name",
            .accept("the list is current, and clears it", "RFC 5280 §6.3.3"), fault: nil),
        listed(
            "crl-revoked", "a certificate that its authority's list names",
            .refuse("the key is somebody else's by now", "RFC 5280 §6.3.3", "revoked"),
            fault: { $0.lists = told { authority, _, leaf in (authority, [leaf], .current) } }),
        listed(
            "crl-expired", "a list that has ended, where one must clear the certificate",
            .refuse(
                "an old list hides what happened since", "RFC 5280 §6.3.3", "revocation_unknown"),
            fault: { $0.lists = told { authority, _, _ in (authority, [], .expired) } }),
        listed(
            "crl-wrong-signer",
            "a list that somebody else signed in the authority's name, where one must clear it",
            .refuse("only the authority can tell", "RFC 5280 §6.3.3", "revocation_unknown"),
            fault: { plan in
                plan.lists = told { (authority, _, _) throws(LabError) in
                    (try TestAuthority(authority.commonName), [], .current)
                }
            }),
    ]

    private typealias List = (by: TestAuthority, naming: [TestIdentity], validity: TestValidity)

    /// The list as told, and one of the root, which names nobody.
    private static func told(
        _ list: @escaping @Sendable (TestAuthority, LabCast, TestIdentity) throws(LabError) -> List
    ) -> LabPlan.Lists {
        { (authority, cast, leaf) throws(LabError) in
            let told = try list(authority, cast, leaf)
            return try told.by.revocationList(told.naming, validity: told.validity)
                + cast.root.revocationList([])
        }
    }

    private static func listed(
        _ name: String, _ deed: String, _ expectation: LabExpectation, fault: Change?
    ) -> LabScenario {
        LabScenario(
            name: name, group: .status, deed: deed, expectation: expectation,
            needs: [.revocationLists], badssl: [],
            setting: { plan in
                // The list alone is to speak.
                plan.staple = { (_, _, _) throws(LabError) in nil }
                plan.lists = told { authority, _, _ in (authority, [], .current) }
            }, fault: fault)
    }

    /// What logs promise, where a client demands that one of those it knows has promised.
    private static let logs: [LabScenario] = [
        logged(
            "sct-embedded", "a time stamp of a known log in the certificate",
            .accept("the log has promised to show it", "RFC 6962 §3.3"), embedded, fault: nil),
        logged(
            "sct-handshake", "a time stamp of a known log in the handshake",
            .accept("a log's promise counts wherever it comes", "RFC 6962 §3.3.1"),
            { plan in
                plan.stamp = { (_, cast, leaf) throws(LabError) in
                    var leaf = leaf
                    leaf.stamps = [try cast.log.stamp(leaf)]
                    return leaf
                }
            }, fault: nil),
        logged(
            "sct-staple", "a time stamp of a known log in the stapled response",
            .accept("a log's promise counts wherever it comes", "RFC 6962 §3.3.1"),
            { plan in
                plan.staple = { (authority, cast, leaf) throws(LabError) in
                    try authority.ocspResponse(
                        authority.ocspResponse(for: leaf),
                        stampedWith: [try cast.log.stamp(leaf)])
                }
            }, fault: nil),
        logged(
            "sct-none", "a certificate that is in no log",
            .refuse("it may have been signed in secret", "RFC 6962 §5.2", "not_logged"), embedded,
            fault: { $0.stamp = { (_, _, leaf) throws(LabError) in leaf } }),
        logged(
            "sct-unknown-log", "a time stamp of a log that nobody knows",
            .refuse("anybody can run a log", "RFC 6962 §5.2", "not_logged"), embedded,
            fault: { plan in
                plan.stamp = { (authority, cast, leaf) throws(LabError) in
                    try authority.embedding([cast.unknownLog], in: leaf)
                }
            }),
        logged(
            "sct-wrong-signature", "a time stamp in the name of a known log, wrongly signed",
            .refuse("the log has promised nothing", "RFC 6962 §5.2", "not_logged"), embedded,
            fault: { plan in
                plan.stamp = { (authority, cast, leaf) throws(LabError) in
                    try authority.embedding([cast.log], in: leaf, isWrong: true)
                }
            }),
    ]

    private static let embedded: Change = { plan in
        plan.stamp = { (authority, cast, leaf) throws(LabError) in
            try authority.embedding([cast.log], in: leaf)
        }
    }

    private static func logged(
        _ name: String, _ deed: String, _ expectation: LabExpectation,
        _ setting: @escaping Change, fault: Change?
    ) -> LabScenario {
        LabScenario(
            name: name, group: .status, deed: deed, expectation: expectation,
            needs: [.transparency], badssl: [], setting: setting, fault: fault)
    }

    private static let mustStaple: Change = { plan in
        plan.recipe.extensions.append(.mustStaple)
    }

    private static func stapled(
        _ name: String, _ deed: String, badssl: [String] = [], _ expectation: LabExpectation,
        _ setting: @escaping Change, fault: Change? = nil
    ) -> LabScenario {
        LabScenario(
            name: name, group: .status, deed: deed, expectation: expectation, needs: [.stapling],
            badssl: badssl, setting: setting, fault: fault)
    }
}
