// Which versions of TLS are spoken.
extension LabScenario {
    static let versions: [LabScenario] = [
        version("tls-1-0", "TLS 1.0 alone", ["tls-v1-0"], "RFC 8996 §4") {
            $0.versions = .tls10Only
        },
        version("tls-1-1", "TLS 1.1 alone", ["tls-v1-1"], "RFC 8996 §5") {
            $0.versions = .tls11Only
        },
    ]

    private static func version(
        _ name: String, _ deed: String, _ badssl: [String], _ rule: String,
        _ fault: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .versions, deed: deed,
            expectation: .refuse("it must not be negotiated", rule, "handshake_failed"),
            needs: [], badssl: badssl, setting: { $0.recipe.key = .rsa2048 }, fault: fault)
    }
}

// What happens below TLS, or instead of it.
extension LabScenario {
    static let connections: [LabScenario] = [
        broken("reset-mid-handshake", "a reset after the ClientHello") {
            $0.fault = .resetsInHandshake
        },
        broken("closed-mid-handshake", "an end after the ClientHello") {
            $0.fault = .closesInHandshake
        },
        broken("alert-mid-handshake", "the alert handshake_failure after the ClientHello") {
            $0.fault = .alertsInHandshake
        },
        LabScenario(
            name: stalled, group: .connections, deed: "silence after the ClientHello",
            expectation: .refuse(
                "who waits for ever hangs; who goes on has no proof", "RFC 8446 §4.4.4", "timed_out"
            ),
            needs: [], badssl: [], setting: { _ in }, fault: { $0.fault = .stallsHandshake }),
        LabScenario(
            name: plain, group: .connections,
            deed: "a plain HTTP answer instead of a handshake",
            expectation: .refuse(
                "https has no plain form: a portal speaks here", "RFC 9110 §4.2.2",
                "handshake_failed"),
            needs: [], badssl: [], setting: { _ in }, fault: { $0.fault = .speaksPlainHTTP }),
    ]

    private static let stalled = "stalled-handshake"
    private static let plain = "plain-http-on-tls-port"

    /// Whether the server reads no ClientHello as one.
    var answersWithoutHello: Bool { name == LabScenario.plain && fault != nil }

    /// True where a client that waits has refused: nothing else ever happens.
    public var isStall: Bool { name == LabScenario.stalled && fault != nil }

    private static func broken(
        _ name: String, _ deed: String, _ fault: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .connections, deed: deed,
            expectation: .refuse(
                "without a finished handshake there is no proof", "RFC 8446 §4.4.4",
                "handshake_failed", "connection_lost", "cannot_connect"),
            needs: [], badssl: [], setting: { _ in }, fault: fault)
    }
}

// What takes more than one connection: what was proved to one policy, or of one server, proves nothing
// to another.
extension LabScenario {
    static let sequences: [LabScenario] = [
        LabScenario(
            name: "redirect-to-bad-host", group: .sequences,
            deed: "a sound server that redirects to one with a certificate for another name",
            expectation: .refuse(
                "every hop must prove its own name", "RFC 9110 §4.3.4", "wrong_name"),
            needs: [.following], badssl: [],
            setting: { $0.redirect = TestRecipe([.address(LabAddress.ipv4)], commonName: "lab") },
            fault: { $0.redirect = TestRecipe(["other.lab.test"], commonName: "lab") }),
        LabScenario(
            name: "certificate-changed", group: .sequences,
            deed: "the pinned key at first, and another from the second connection on",
            expectation: .refuse(
                "every connection is proved anew", "RFC 7469 §2.6", "no_pin_matched"),
            needs: [.pin, .sequence], badssl: [],
            setting: { plan in
                plan.closes = true
                plan.steps = twice(plan.host, .right, .right, isAccepted: true)
            },
            fault: { plan in
                plan.later = plan.recipe
                plan.later?.variant = 1
                plan.steps = twice(plan.host, .right, .right, isAccepted: false)
            }),
        otherPolicy(
            "resumed-session-other-policy",
            "a session to go on with, for a client with other pins than the first",
            "a resumed session shows no certificate"
        ) { $0.closes = true },
        otherPolicy(
            "pooled-connection-other-policy",
            "an open connection, for a client with other pins than the first",
            "the open connection was proved to another policy"
        ) { _ in },
        LabScenario(
            name: "h2-coalescing", group: .sequences,
            deed:
                "HTTP/2, and a certificate that does not name the second host at the same address",
            expectation: .refuse(
                "a connection serves only the names it has proved", "RFC 9113 §9.1.1", "wrong_name"),
            needs: [.sequence], badssl: [], setting: { coalescing(&$0, isNamed: true) },
            fault: { coalescing(&$0, isNamed: false) }),
        LabScenario(
            name: "h2-misdirected", group: .sequences,
            deed: "HTTP/2, a certificate for two hosts, and 421 on the connection of the other",
            expectation: .accept(
                "the request is made again on a connection of its own", "RFC 9110 §15.5.20"),
            needs: [.sequence], badssl: [],
            setting: { plan in
                coalescing(&plan, isNamed: true)
                plan.misdirects = true
            }, fault: nil),
    ]

    private static func otherPolicy(
        _ name: String, _ deed: String, _ why: String, _ setting: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .sequences, deed: deed,
            expectation: .refuse(why, "RFC 7469 §2.6", "no_pin_matched", "policy_changed"),
            needs: [.pin, .sequence], badssl: [],
            setting: { plan in
                setting(&plan)
                plan.steps = twice(plan.host, .none, .right, isAccepted: true)
            },
            fault: { $0.steps = twice($0.host, .none, .wrong, isAccepted: false) })
    }

    private static func twice(
        _ host: String, _ first: LabPlan.StepPins, _ second: LabPlan.StepPins, isAccepted: Bool
    ) -> [LabPlan.Step] {
        [
            LabPlan.Step(host: host, pins: first, isAccepted: true),
            LabPlan.Step(host: host, pins: second, isAccepted: isAccepted),
        ]
    }

    private static func coalescing(_ plan: inout LabPlan, isNamed: Bool) {
        let second = "second." + plan.host
        plan.features.speaksHTTP2 = true
        plan.recipe.names = isNamed ? [.dns(plan.host), .dns(second)] : [.dns(plan.host)]
        plan.steps = [
            LabPlan.Step(host: plan.host, pins: .none, isAccepted: true),
            LabPlan.Step(host: second, pins: .none, isAccepted: isNamed),
        ]
    }
}
