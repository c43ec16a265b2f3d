// Which keys are accepted, and that a right key excuses nothing else.
extension LabScenario {
    static let pins: [LabScenario] =
        [
            pinned(
                "right-pin", "the pinned key", .accept("the key is pinned", "RFC 7469 §2.6")),
            pinned(
                "backup-pin", "the second of two pinned keys", needs: [.pin, .pins],
                .accept("one pin that matches is enough", "RFC 7469 §2.6"),
                { plan in plan.pins = { cast, leaf in [cast.spare.pin, leaf.pin] } }),
            pinned(
                "intermediate-pin", "a chain over the pinned intermediate",
                .accept("every key of the verified chain counts", "RFC 7469 §2.6"),
                { plan in plan.pins = { cast, _ in [cast.intermediate.identity.pin] } }),
            pinned(
                "root-pin", "a chain to the pinned root, which is not sent",
                .accept("the root belongs to the verified chain", "RFC 7469 §2.6"),
                { plan in plan.pins = { cast, _ in [cast.root.identity.pin] } }),
            pinned(
                "renewed-same-key", "another certificate for the pinned key",
                .accept("a pin is of the key, not of the certificate", "RFC 7469 §2.4"),
                { $0.isRenewed = true }),
            pinned(
                "cross-signed", "an unknown root that the known one vouches for, and its pin",
                .accept("the cross-certificate leads to a trusted root", "RFC 5280 §3.2"),
                { plan in
                    plan.authority = { (cast) throws(LabError) in
                        try cast.newcomer.crossSigned(by: cast.root)
                    }
                    plan.pins = { cast, _ in [cast.newcomer.identity.pin] }
                }),
            pinned(
                "wrong-pin", "a sound certificate with a key that is not pinned",
                badssl: ["pinning-test"],
                .refuse("any authority can be deceived: the pin decides", "RFC 7469 §2.6", noPin),
                fault: { plan in plan.pins = { cast, _ in [cast.spare.pin] } }),
            pinned(
                "rotated-key", "a renewed certificate with a new key that nobody was told of",
                .refuse("it cannot be told from interception", "RFC 7469 §4.3", noPin),
                { plan in
                    plan.reusedKey = { $0.former }
                    plan.pins = { cast, _ in [cast.former.pin] }
                }, fault: { $0.reusedKey = nil }),
            pinned(
                "pin-appended", "a sound chain, and the pinned certificate sent after it",
                .refuse(
                    "a certificate that is merely sent proves nothing: pins match the verified chain",
                    "RFC 7469 §2.6", noPin),
                { plan in plan.change = appendSpare },
                fault: { plan in plan.pins = { cast, _ in [cast.spare.pin] } }),
        ] + excused

    /// The right pin does not excuse these.
    private static let excused: [LabScenario] = [
        pinned(
            "expired-right-pin", "the pinned key in an expired certificate",
            .refuse("a pin is a further demand, not another one", "RFC 7469 §2.6", "expired"),
            fault: { $0.recipe.validity = .expired }),
        pinned(
            "not-yet-valid-right-pin", "the pinned key in a certificate of tomorrow",
            .refuse("a pin is a further demand, not another one", "RFC 7469 §2.6", "not_yet_valid"),
            fault: { $0.recipe.validity = .notYet }),
        pinned(
            "wrong-name-right-pin", "the pinned key in a certificate for another name",
            .refuse("a pin is a further demand, not another one", "RFC 7469 §2.6", "wrong_name"),
            fault: { $0.recipe.names = ["other.lab.test"] }),
        pinned(
            "self-signed-right-pin", "the pinned key in a self-signed certificate",
            .refuse("a pin is a further demand, not another one", "RFC 7469 §2.6", "self_signed"),
            fault: { $0.isSelfSigned = true }),
        pinned(
            "untrusted-root-right-pin", "the pinned key under a root that nobody knows",
            .refuse(
                "a pin is a further demand, not another one", "RFC 7469 §2.6", "unknown_issuer"),
            fault: { $0.authority = stranger }),
    ]

    static let stranger: LabPlan.Authority = { (cast) throws(LabError) in cast.stranger }

    private static let noPin = "no_pin_matched"

    private static let appendSpare: LabPlan.ChangeChain = { (cast, identity) throws(LabError) in
        identity.issuers.append(cast.spare.certificate)
    }

    private static func pinned(
        _ name: String, _ deed: String, badssl: [String] = [], needs: Set<LabNeed> = [.pin],
        _ expectation: LabExpectation, _ setting: @escaping Change = { _ in }, fault: Change? = nil
    ) -> LabScenario {
        LabScenario(
            name: name, group: .pins, deed: deed, expectation: expectation, needs: needs,
            badssl: badssl, setting: setting, fault: fault)
    }
}
