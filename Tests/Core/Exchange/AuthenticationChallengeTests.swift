import HTTPDNSExchange
import HTTPDNSNames
import Testing

@Suite struct AuthenticationChallengeTests {
    private func challenges(
        _ values: String..., without missing: DigestChallenge.Algorithm? = nil
    ) throws -> [Read] {
        var fields = HTTPFields()
        for value in values { try fields.append("WWW-Authenticate", value) }
        return AuthenticationChallenge.all(in: fields) { $0 != missing }.map { challenge in
            guard case .digest(let digest) = challenge.way else {
                return Read(.basic, challenge.realm)
            }
            return Read(.digest, challenge.realm, digest.algorithm)
        }
    }

    private struct Read: Equatable {
        let scheme: AuthenticationChallenge.Scheme
        let realm: String
        let algorithm: DigestChallenge.Algorithm?

        init(
            _ scheme: AuthenticationChallenge.Scheme, _ realm: String,
            _ algorithm: DigestChallenge.Algorithm? = nil
        ) {
            self.scheme = scheme
            self.realm = realm
            self.algorithm = algorithm
        }
    }

    @Test func `Basic and Digest are read, whatever else is offered`() throws {
        #expect(try challenges(#"Basic realm="simple""#) == [Read(.basic, "simple")])
        // The example of RFC 9110 §11.6.1.
        let several = #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="x""#
        #expect(try challenges(several) == [Read(.basic, "x")])
        #expect(
            try challenges(
                #"Digest realm="a", nonce="b", qop="auth,auth-int", algorithm=MD5"#,
                "Negotiate", "bAsIc REALM = plain")
                == [Read(.digest, "a", .md5), Read(.basic, "plain")])
    }

    @Test func `the strongest Digest of a realm comes first, then other realms', then Basic`()
        throws
    {
        let found = try challenges(
            #"Basic realm="1", Basic realm="2""#, #"Digest realm="3", nonce="n""#,
            #"Digest realm="4", nonce="n", algorithm=SHA-256"#,
            #"Digest realm="3", nonce="n", algorithm=SHA-256-sess, qop=auth"#,
            #"Digest realm="5", nonce="n", Digest realm="4", nonce="n", algorithm=SHA-512-256"#)
        #expect(
            found == [
                Read(.digest, "4", .sha512Half), Read(.digest, "3", .sha256),
                Read(.digest, "5", .md5), Read(.basic, "1"),
            ])
    }

    @Test(arguments: DigestChallenge.Algorithm.allCases)
    func `the order in which challenges come says nothing, and what is not there is not met`(
        missing: DigestChallenge.Algorithm
    ) throws {
        let offers = ["MD5", "SHA-512-256", "SHA-256"].map {
            #"Digest realm="d", nonce="n", qop="auth", algorithm="# + $0
        }
        for (one, two, three) in [(0, 1, 2), (2, 1, 0), (1, 2, 0)] {
            let values = [offers[one], offers[two], offers[three]]
            #expect(
                try challenges(values[0], values[1], values[2]).first?.algorithm == .sha512Half)
            #expect(
                try challenges(values.joined(separator: ", "), without: missing)
                    .map(\.algorithm) == [missing == .sha512Half ? .sha256 : .sha512Half])
        }
        #expect(
            try challenges(
                #"Digest realm="d", nonce="n", algorithm="# + missing.rawValue,
                #"Basic realm="b""#, without: missing) == [Read(.basic, "b")])
    }

    @Test(arguments: [
        ("", DigestChallenge.Algorithm.md5), (", algorithm=MD5", .md5),
        (", algorithm=md5-SESS", .md5), (#", algorithm="SHA-256""#, .sha256),
        (", algorithm=SHA-256-sess", .sha256), (", algorithm=SHA-512-256", .sha512Half),
        (", algorithm=sha-512-256-sess", .sha512Half), (", algorithm=SHA-512", nil),
        (", algorithm=token", nil), (", algorithm=-sess", nil),
    ])
    func `a Digest by an algorithm that nobody knows is passed over, and the next one is met`(
        parameter: String, algorithm: DigestChallenge.Algorithm?
    ) throws {
        let digest = #"Digest realm="d", nonce="n", qop="auth""# + parameter
        let met = algorithm.map { [Read(.digest, "d", $0)] } ?? []
        #expect(try challenges(digest, #"Basic realm="b""#) == met + [Read(.basic, "b")])
        let second = try challenges(digest, #"Digest realm="d", nonce="m", algorithm=MD5"#)
        #expect(second == (met.isEmpty ? [Read(.digest, "d", .md5)] : met))
    }

    @Test(arguments: [
        (#"qop="auth-int""#, false), ("qop=auth-int", false), (#"qop="AUTH-INT , x""#, false),
        (#"qop="token""#, false), (#"qop="auth""#, true), (#"qop="auth-int, auth""#, true),
        (#"qop="auth,auth-int""#, true), ("qop=Auth", true), (#"qop="""#, true),
        ("algorithm=MD5-sess", false), ("algorithm=MD5-sess, qop=auth", true),
    ])
    func `a Digest over the body alone is passed over, and the next challenge is met`(
        parameter: String, isMet: Bool
    ) throws {
        let digest = #"Digest realm="d", nonce="n", "# + parameter
        let found = try challenges(digest, #"Basic realm="b""#)
        #expect(found.map(\.scheme) == (isMet ? [.digest, .basic] : [.basic]))
        #expect(try challenges(digest).isEmpty == !isMet)
    }

    @Test(arguments: [
        #"Basic realm="b""#, #"Basic charset="UTF-8", realm="b""#,
        #"Digest realm="e", nonce="m", algorithm=MD5"#, #"Negotiate, X a=b, opaque="o""#,
        #"X note="x, Digest realm=\"d\", nonce=\"m\", algorithm=SHA-512-256""#,
    ])
    func `challenges of one field are told apart`(other: String) throws {
        let digest = #"Digest realm="d", nonce="n", algorithm=SHA-256"#
        for value in [digest + ", " + other, other + " , " + digest] {
            #expect(try challenges(value).first == Read(.digest, "d", .sha256))
        }
    }

    @Test func `a Digest without a nonce cannot be met`() throws {
        #expect(try challenges(#"Digest realm="d", qop="auth""#).isEmpty)
    }

    @Test func `quoted text may hold commas, blanks and quotation marks`() throws {
        #expect(
            try challenges(#"Basic realm="a, Digest realm=\"b\" c""#)
                == [Read(.basic, #"a, Digest realm="b" c"#)])
        #expect(
            try challenges(#"Negotiate YII1dHJ1c3Q==, Basic realm="x""#)
                == [Read(.basic, "x")])
    }

    @Test(arguments: [
        "", ",", ", ,", "=", "\"", "realm=x", "Bearer", "Basically realm=x", "\"Basic\" realm=x",
        "=Basic realm=x",
    ])
    func `what names no scheme of ours is no challenge`(value: String) throws {
        #expect(try challenges(value).isEmpty)
    }

    @Test(arguments: [
        "Basic", "Basic realm", "Basic realm=", "Basic realm=\"", "Basic =", "Basic ,",
    ])
    func `a challenge cut short has no realm, and ends the reading`(value: String) throws {
        #expect(try challenges(value) == [Read(.basic, "")])
    }

    @Test func `credentials that cannot travel are none`() throws {
        let origin = try HTTPURL("https://example.com/").origin
        var fields = HTTPFields()
        try fields.append("WWW-Authenticate", #"Digest realm="d", nonce="n""#)
        let digest = try #require(AuthenticationChallenge.all(in: fields).first).way
        func make(
            _ user: String, _ password: String, _ way: AuthenticationChallenge.Way
        ) -> OriginCredentials? {
            OriginCredentials(user, Secret(password), by: way, for: origin)
        }
        #expect(make("u", "p:q", .basic) != nil)
        #expect(make("a:b", "p", .basic) == nil)
        #expect(make("a:b", "p", digest) != nil)
        for bad in ["a\r\nb", "a\u{0}b", "a\u{7F}", "\t"] {
            #expect(make(bad, "p", digest) == nil)
            #expect(make("u", bad, .basic) == nil)
        }
        #expect("\(String(describing: make("u", "hidden", .basic)))".contains("hidden") == false)
    }

    @Test func `userinfo is decoded, and can be taken out of a URL`() throws {
        let url = try HTTPURL("https://a%40b:p%3Aq@example.com/x?y#z")
        let (user, password) = try #require(OriginCredentials.userinfo(of: url))
        #expect(user == "a@b")
        #expect(password.revealed == "p:q")
        #expect(try url.withoutUserinfo == HTTPURL("https://example.com/x?y#z"))
        #expect(OriginCredentials.userinfo(of: url.withoutUserinfo) == nil)
    }
}
