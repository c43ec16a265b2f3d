import HTTPDNSDigest
import HTTPDNSExchange
import HTTPDNSNames
import Testing

@Suite struct DigestChallengeTests {
    private func answer(
        _ challenge: String, user: String = "Mufasa", password: String = "Circle of Life",
        count: UInt32 = 1, target: String = "/dir/index.html",
        own: String = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    ) throws -> String {
        var fields = HTTPFields()
        try fields.append("WWW-Authenticate", challenge)
        guard case .digest(let digest) = AuthenticationChallenge.all(in: fields).first?.way else {
            return "none"
        }
        let octets = try digest.answer(
            user, Secret(password),
            for: .init(method: .get, target: target, count: count, clientNonce: own)
        ) {
            octets throws(DigestError) in
            switch digest.algorithm {
            case .md5: try Digest.md5(octets)
            case .sha256: try Digest.sha256(octets)
            case .sha512Half: try Digest.sha512Half(octets)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Source: RFC 7616 §3.9.1.
    private static let offered =
        #"Digest realm="http-auth@example.org", qop="auth, auth-int", "#
        + #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "#
        + #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the examples of RFC 7616 are answered as it says`(
        algorithm: String, response: String
    ) throws {
        let answer = try answer(Self.offered + ", algorithm=" + algorithm)
        let first = #"Digest username="Mufasa", realm="http-auth@example.org", "#
        #expect(answer.hasPrefix(first))
        #expect(answer.contains(#", uri="/dir/index.html", "#))
        #expect(answer.contains(", nc=00000001, qop=auth, response=\"\(response)\", opaque="))
        #expect(answer.hasSuffix(", algorithm=" + algorithm))
    }

    /// Source: RFC 7616 §3.9.2, with the values of its erratum 4897: those of the text are of another
    /// hash than SHA-512/256.
    @Test func `a name that is to be hidden is hashed with its realm`() throws {
        let challenge =
            #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, "#
            + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", "#
            + #"opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true"#
        let answer = try answer(
            challenge, user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?",
            target: "/doe.json", own: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v")
        let name = "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"
        let response = "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5"
        #expect(answer.hasPrefix("Digest username=\"\(name)\", realm=\"api@example.org\", "))
        #expect(answer.contains("response=\"\(response)\""))
        #expect(answer.hasSuffix(", algorithm=SHA-512-256, userhash=true"))
        #expect(!answer.contains("Doe"))
    }

    /// Source: RFC 2617 §3.5 with its parameters of RFC 2069 alone.
    @Test func `without a quality of protection nothing of the client's own is said`() throws {
        let answer = try answer(#"Digest realm="r", nonce="n""#, user: "u", password: "p")
        let (first, second) = (try Digest.md5Hex("u:r:p".utf8), try Digest.md5Hex("GET:/".utf8))
        let whole = try Digest.md5Hex("\(first):n:\(second)".utf8)
        let root = try self.answer(
            #"Digest realm="r", nonce="n""#, user: "u", password: "p", target: "/")
        #expect(
            root == #"Digest username="u", realm="r", nonce="n", uri="/", response=""# + whole
                + "\""
        )
        #expect(answer != root)
    }

    @Test func `a session's hash is bound to both nonces`() throws {
        let answer = try answer(
            #"Digest realm="r", nonce="n", qop=auth, algorithm=MD5-sess"#, user: "u",
            password: "p", count: 0xABC, target: "/", own: "c")
        let inner = try Digest.md5Hex("u:r:p".utf8)
        let first = try Digest.md5Hex("\(inner):n:c".utf8)
        let second = try Digest.md5Hex("GET:/".utf8)
        let whole = try Digest.md5Hex("\(first):n:00000abc:c:auth:\(second)".utf8)
        #expect(answer.contains("response=\"\(whole)\""))
        #expect(answer.contains("nc=00000abc"))
        #expect(answer.hasSuffix("algorithm=MD5-sess"))
    }

    @Test func `what is quoted cannot end its quotes`() throws {
        let answer = try answer(
            #"Digest realm="a \"b\" \\", nonce=n=x==, opaque="\"", qop=auth"#, user: "u\"\\",
            password: "p")
        #expect(answer.hasPrefix(#"Digest username="u\"\\", realm="a \"b\" \\", nonce="n=x==", "#))
        #expect(answer.hasSuffix(#", opaque="\"""#))
    }

    @Test func `a realm that is not UTF-8 is answered by the octets that it has`() throws {
        let realm: [UInt8] = [0x5A, 0xFC]
        let value = Array(#"Digest realm=""#.utf8) + realm + Array(#"", nonce="n""#.utf8)
        var fields = HTTPFields()
        try fields.append("WWW-Authenticate", FieldText(octets: value))
        let challenge = try #require(AuthenticationChallenge.all(in: fields).first)
        #expect(challenge.realm == "Z\u{FC}")
        guard case .digest(let digest) = challenge.way else {
            Issue.record("not a Digest")
            return
        }
        let octets = try digest.answer(
            "u", Secret("p"), for: .init(method: .get, target: "/", count: 1, clientNonce: "c")
        ) { octets throws(DigestError) in try Digest.md5(octets) }
        #expect(octets.starts(with: Array(#"Digest username="u", realm=""#.utf8) + realm + [0x22]))
        let first = Hex.encoded(
            try Digest.md5(Array("u:".utf8) + realm + Array(":p".utf8)))
        let second = try Digest.md5Hex("GET:/".utf8)
        let whole = try Digest.md5Hex("\(first):n:\(second)".utf8)
        #expect(String(decoding: octets, as: UTF8.self).hasSuffix("response=\"\(whole)\""))
    }
}
