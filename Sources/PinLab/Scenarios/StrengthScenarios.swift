// How strong keys, signatures and ciphers are.
extension LabScenario {
    static let strength: [LabScenario] =
        [
            weak(
                "sha1-signature", "a certificate signed over SHA-1", [],
                "collisions are within reach",
                "CA/B BR §7.1.3.2", "weak_signature"
            ) { $0.recipe.digest = .sha1 },
            weak(
                "sha1-intermediate", "an intermediate signed over SHA-1", [],
                "collisions are within reach", "CA/B BR §7.1.3.2", "weak_signature"
            ) { plan in
                plan.authority = { (cast) throws(LabError) in
                    var authority = TestRecipe.authority("SHA-1 Intermediate")
                    authority.digest = .sha1
                    return try cast.root.authority(authority)
                }
            },
            weak(
                "md5-signature", "a certificate signed over MD5", [],
                "certificates were forged with it",
                "RFC 6151 §2", "weak_signature", setting: { $0.authority = byRSA },
                fault: { $0.recipe.digest = .md5 }),
            weak(
                "rsa1024", "an RSA key of 1,024 bits", [], "a state can factor it",
                "CA/B BR §6.1.5",
                "weak_key", setting: { $0.recipe.key = .rsa2048 },
                fault: { $0.recipe.key = .rsa1024 }),
        ] + ciphers

    private static let ciphers: [LabScenario] = [
        weak(
            "rc4", "RC4 alone", ["rc4"], "its output can be told from noise", "RFC 7465 §2",
            "handshake_failed", setting: old,
            fault: { $0.features.ciphers = "ECDHE-RSA-RC4-SHA:RC4-SHA" }),
        weak(
            "rc4-md5", "RC4 with MD5 alone", ["rc4-md5"], "both are broken", "RFC 7465 §2",
            "handshake_failed", setting: old, fault: { $0.features.ciphers = "RC4-MD5" }),
        weak(
            "null-cipher", "no encryption at all", ["null"], "everybody can read along",
            "RFC 9325 §4.1", "handshake_failed", setting: old,
            fault: { $0.features.ciphers = "ECDHE-RSA-NULL-SHA:NULL-SHA256" }),
        weak(
            "3des", "3DES alone", ["3des"], "a block of 64 bits repeats within a long connection",
            "RFC 9325 §4.1", "handshake_failed", setting: old,
            fault: { $0.features.ciphers = "ECDHE-RSA-DES-CBC3-SHA:DES-CBC3-SHA" }),
        group(480), group(512), group(1_024),
        LabScenario(
            name: "dh2048", group: .strength, deed: "a Diffie-Hellman group of 2,048 bits alone",
            expectation: .either(
                "strong enough, but clients give up finite fields", "RFC 9325 §4.1"),
            needs: [], badssl: ["dh2048"],
            setting: { plan in
                old(&plan)
                plan.features.ciphers = finiteField
                plan.features.groupBits = 2_048
            }, fault: nil),
        LabScenario(
            name: "cbc", group: .strength, deed: "AES in CBC mode alone",
            expectation: .either("hard to do right, and not broken when it is", "RFC 9325 §4.2"),
            needs: [], badssl: ["cbc"],
            setting: { plan in
                old(&plan)
                plan.features.ciphers = "ECDHE-RSA-AES128-SHA"
            }, fault: nil),
    ]

    private static func group(_ bits: Int) -> LabScenario {
        weak(
            "dh\(bits)", "a Diffie-Hellman group of \(bits) bits alone", ["dh\(bits)"],
            "its logarithms can be computed", "RFC 9325 §4.1", "handshake_failed",
            setting: { plan in
                old(&plan)
                plan.features.ciphers = finiteField
                plan.features.groupBits = 2_048
            }, fault: { $0.features.groupBits = bits })
    }

    private static let finiteField = "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384"

    /// Where weak ciphers live: TLS 1.2 with an RSA key.
    private static let old: Change = { plan in
        plan.recipe.key = .rsa2048
        plan.versions = .tls12Only
    }

    private static let byRSA: LabPlan.Authority = { (cast) throws(LabError) in
        try cast.root.intermediate("RSA Intermediate", key: .rsa2048)
    }

    private static func weak(
        _ name: String, _ deed: String, _ badssl: [String], _ why: String, _ rule: String,
        _ code: String, setting: @escaping Change = { _ in }, fault: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .strength, deed: deed, expectation: .refuse(why, rule, code),
            needs: [], badssl: badssl, setting: setting, fault: fault)
    }
}
