// Whether a certificate was revoked, as its server's stapled OCSP response says.
extension LabScenario {
    static let status: [LabScenario] = [
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
                "an old response hides what happened since", "RFC 7633 §4.2.3", "staple_invalid",
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
            "staple-wrong-signer", "a response that somebody else signed, where one is demanded",
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
            .refuse("a thief would leave it out", "RFC 7633 §4.2.3", "staple_missing"), mustStaple,
            fault: { $0.staple = { (_, _, _) throws(LabError) in nil } }),
        LabScenario(
            name: "no-sct", group: .status, deed: "a certificate that is in no public log",
            expectation: .either(
                "authorities of one's own do not log; a browser may demand it of public ones",
                "RFC 9162 §1"),
            needs: [], badssl: ["no-sct"], setting: { _ in }, fault: nil),
    ]

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
