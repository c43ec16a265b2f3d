import HTTPDNSExchange
import HTTPDNSNames
import Testing

@Suite struct AuthenticationChallengeTests {
    private func challenges(_ values: String...) throws -> [AuthenticationChallenge] {
        var fields = HTTPFields()
        for value in values { try fields.append("WWW-Authenticate", value) }
        return AuthenticationChallenge.all(in: fields)
    }

    @Test func `Basic and Digest are read, whatever else is offered`() throws {
        #expect(
            try challenges(#"Basic realm="simple""#)
                == [AuthenticationChallenge(scheme: .basic, realm: "simple")])
        // The example of RFC 9110 §11.6.1.
        let several = #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="x""#
        #expect(
            try challenges(several) == [AuthenticationChallenge(scheme: .basic, realm: "x")])
        #expect(
            try challenges(
                #"Digest realm="a", nonce="b", qop="auth,auth-int", algorithm=MD5"#,
                "Negotiate", "bAsIc REALM = plain")
                == [
                    AuthenticationChallenge(scheme: .digest, realm: "a"),
                    AuthenticationChallenge(scheme: .basic, realm: "plain"),
                ])
    }

    @Test func `the safer scheme comes first, each scheme once`() throws {
        let found = try challenges(
            #"Basic realm="1", Basic realm="2""#, #"Digest realm="3", nonce="n""#,
            #"Digest realm="4", nonce="n", algorithm=SHA-256"#)
        #expect(
            found == [
                AuthenticationChallenge(scheme: .digest, realm: "3"),
                AuthenticationChallenge(scheme: .basic, realm: "1"),
            ])
    }

    @Test(arguments: [
        ("", true), (", algorithm=MD5", true), (", algorithm=md5-SESS", true),
        (#", algorithm="SHA-256""#, true), (", algorithm=SHA-256-sess", true),
        (", algorithm=SHA-512-256", false), (", algorithm=SHA-512-256-sess", false),
        (", algorithm=SHA-512", false), (", algorithm=token", false),
    ])
    func `a Digest that libcurl cannot compute is passed over, and the next scheme is met`(
        parameter: String, isMet: Bool
    ) throws {
        let digest = #"Digest realm="d", nonce="n""# + parameter
        let basic = AuthenticationChallenge(scheme: .basic, realm: "b")
        let found = try challenges(digest, #"Basic realm="b""#)
        #expect(
            found == (isMet ? [AuthenticationChallenge(scheme: .digest, realm: "d")] : []) + [basic]
        )
        // libcurl answers the first one alone, whatever follows.
        let second = try challenges(digest, #"Digest realm="e", nonce="n", algorithm=MD5"#)
        #expect(second.map(\.realm) == (isMet ? ["d"] : []))
    }

    @Test(arguments: [
        (#"qop="auth-int""#, false), ("qop=auth-int", false), (#"qop="AUTH-INT , x""#, false),
        (#"qop="token""#, false), (#"qop="auth""#, true), (#"qop="auth-int, auth""#, true),
        (#"qop="auth,auth-int""#, true), ("qop=Auth", true), (#"qop="""#, true),
    ])
    func `a Digest over the body is passed over, and the next scheme is met`(
        parameter: String, isMet: Bool
    ) throws {
        let digest = #"Digest realm="d", nonce="n", "# + parameter
        let found = try challenges(digest, #"Basic realm="b""#)
        #expect(found.map(\.scheme) == (isMet ? [.digest, .basic] : [.basic]))
        #expect(try challenges(digest).isEmpty == !isMet)
    }

    @Test(arguments: [
        (#"Basic realm="b""#, true), (#"Basic realm="b", charset="UTF-8""#, true),
        (#"Basic charset="UTF-8", realm="b""#, false),
        (#"Digest realm="e", nonce="m", algorithm=MD5"#, false),
        (#"Negotiate, Basic realm="b""#, true), (#"Negotiate, X a=b, opaque="o""#, false),
    ])
    func `a Digest that libcurl would mix with what follows in its field is passed over`(
        rest: String, isMet: Bool
    ) throws {
        let digest = #"Digest realm="d", nonce="n", algorithm=SHA-256"#
        #expect(try challenges(digest + ", " + rest).map(\.realm).contains("d") == isMet)
        // In a field of its own it is safe.
        #expect(try challenges(digest, rest).first?.realm == "d")
    }

    @Test func `a Digest that libcurl would look for in another's quotes is passed over`() throws {
        let digest = #"Digest realm="d", nonce="n""#
        #expect(
            try challenges(#"Basic realm="x,Digest y", "# + digest).map(\.scheme) == [.basic])
        #expect(
            try challenges(#"Basic realm="x, y", "# + digest).map(\.scheme) == [.digest, .basic])
        #expect(try challenges(#"Basic realm="x,Digest y""#, digest).first?.realm == "d")
    }

    @Test func `a Digest without a nonce cannot be met`() throws {
        #expect(try challenges(#"Digest realm="d", qop="auth""#).isEmpty)
    }

    @Test func `quoted text may hold commas, blanks and quotation marks`() throws {
        #expect(
            try challenges(#"Basic realm="a, Digest realm=\"b\" c""#)
                == [AuthenticationChallenge(scheme: .basic, realm: #"a, Digest realm="b" c"#)])
        #expect(
            try challenges(#"Negotiate YII1dHJ1c3Q==, Basic realm="x""#)
                == [AuthenticationChallenge(scheme: .basic, realm: "x")])
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
        #expect(try challenges(value) == [AuthenticationChallenge(scheme: .basic, realm: "")])
    }

    @Test func `credentials that cannot travel are none`() throws {
        let origin = try HTTPURL("https://example.com/").origin
        func make(
            _ user: String, _ password: String, _ scheme: AuthenticationChallenge.Scheme
        ) -> OriginCredentials? {
            OriginCredentials(user, Secret(password), by: scheme, for: origin)
        }
        #expect(make("u", "p:q", .basic) != nil)
        #expect(make("a:b", "p", .basic) == nil)
        #expect(make("a:b", "p", .digest) != nil)
        for bad in ["a\r\nb", "a\u{0}b", "a\u{7F}", "\t"] {
            #expect(make(bad, "p", .digest) == nil)
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
