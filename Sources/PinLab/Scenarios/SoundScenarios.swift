// Nothing is wrong with these: a client that refuses one cannot reach servers that are in order.
extension LabScenario {
    static let sound: [LabScenario] =
        [
            sound("baseline", "a common certificate under an intermediate", [], "RFC 5280 §6.1") {
                _ in
            },
            sound("rsa2048", "an RSA key of 2,048 bits", ["rsa2048"], "CA/B BR §6.1.5") {
                $0.recipe.key = .rsa2048
            },
            sound("rsa8192", "an RSA key of 8,192 bits", ["rsa8192"], "RFC 8017 §3.1") {
                $0.recipe.key = .rsa8192
            },
            sound("ecc256", "a P-256 key", ["ecc256"], "RFC 8422 §5.1.1") { $0.recipe.key = .p256 },
            sound("ecc384", "a P-384 key", ["ecc384"], "RFC 8422 §5.1.1") { $0.recipe.key = .p384 },
            sound("sha256", "a signature over SHA-256", ["sha256"], "RFC 5758 §3.2") { _ in },
            sound("sha384", "a signature over SHA-384", ["sha384"], "RFC 5758 §3.2") {
                $0.recipe.digest = .sha384
            },
            sound("sha512", "a signature over SHA-512", ["sha512"], "RFC 5758 §3.2") {
                $0.recipe.digest = .sha512
            },
            sound(
                "policy", "a certificate policy, as one for extended validation has",
                ["extended-validation"], "RFC 5280 §4.2.1.4"
            ) { $0.recipe.extensions.append(.policy("2.23.140.1.1")) },
            sound(
                "no-common-name", "no common name in the subject", ["no-common-name"], "RFC 9525 §2"
            ) {
                $0.recipe.commonName = nil
            },
            sound(
                "no-subject", "an empty subject, the SAN critical", ["no-subject"],
                "RFC 5280 §4.1.2.6"
            ) {
                $0.recipe.commonName = nil
            },
            sound(
                "1000-sans", "a thousand names, the right one last", ["1000-sans"],
                "RFC 5280 §4.2.1.6"
            ) { $0.recipe.names = crowd(999) + $0.recipe.names },
            sound("tls-1-2", "TLS 1.2 alone", ["tls-v1-2"], "RFC 9325 §3.1.1") {
                $0.versions = .tls12Only
            },
            sound("tls-1-3", "TLS 1.3 alone", ["mozilla-modern"], "RFC 8446 §4.2.1") {
                $0.versions = .tls13Only
            },
            sound("http2", "HTTP/2 with who offers it, else HTTP/1.1", [], "RFC 9113 §3.2") {
                $0.features.speaksHTTP2 = true
            },
            sound(
                "client-certificate-asked", "a wish for a client's certificate", [],
                "RFC 8446 §4.4.2"
            ) { $0.features.clientCertificate = .asked },
        ] + uncommon

    /// Sound as well, but a client may have its reasons.
    private static let uncommon: [LabScenario] = [
        LabScenario(
            name: "ed25519", group: .sound, deed: "an Ed25519 key",
            expectation: .either("not every authority and client knows the curve", "RFC 8410"),
            needs: [], badssl: [], setting: { $0.recipe.key = .ed25519 }, fault: nil),
        LabScenario(
            name: "10000-sans", group: .sound, deed: "ten thousand names, the right one last",
            expectation: .either(
                "a client may bound what it reads before it knows with whom it speaks",
                "RFC 8446 §4.4.2", "handshake_failed", "too_costly"),
            needs: [], badssl: ["10000-sans"],
            setting: { $0.recipe.names = crowd(9_999) + $0.recipe.names }, fault: nil),
    ]

    private static func sound(
        _ name: String, _ deed: String, _ badssl: [String], _ rule: String,
        _ setting: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .sound, deed: deed,
            expectation: .accept("nothing is wrong with it", rule), needs: [], badssl: badssl,
            setting: setting, fault: nil)
    }

    private static func crowd(_ count: Int) -> [TestName] {
        (1...count).map { .dns("name-\($0).crowd.lab.test") }
    }
}
