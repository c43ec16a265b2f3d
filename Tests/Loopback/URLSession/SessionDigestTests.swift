import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Digest in all its forms, against an origin that computes it itself.
@Suite(.timeLimit(.minutes(2))) struct SessionDigestTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private static let kinds: [DigestLab.Kind] = [
        .init(challenges: [#"Digest realm="lab", nonce="NONCE""#], hasQuality: false),
        .init(challenges: [#"digest REALM=lab,nonce="NONCE",qop=auth"#]),
        .init(challenges: [
            #"Digest realm="lab", qop="auth,auth-int", algorithm=md5, nonce="NONCE", domain="/ /x""#
        ]),
        .init(
            challenges: [#"Digest realm="lab", nonce="NONCE", qop="auth", algorithm=MD5-sess"#],
            isSession: true),
        .init(
            challenges: [
                #"Digest realm="lab", nonce="NONCE", qop="auth", algorithm=sHa-256, charset=UTF-8"#
            ], algorithm: .sha256),
        .init(
            challenges: [
                #"Digest realm="lab", nonce="NONCE", qop="auth", algorithm="SHA-256-SESS""#
            ], algorithm: .sha256, isSession: true),
        .init(
            challenges: [
                #"Digest realm="lab", nonce="NONCE", qop="auth", algorithm=SHA-256, userhash=true"#
            ], algorithm: .sha256, hashesUser: true),
        .init(
            challenges: [
                #"Digest realm="a \"b\", c\\d", opaque="x, y=\"z\"", nonce="NONCE", qop="auth""#
            ], realm: #"a "b", c\d"#, opaque: #"x, y="z""#),
        .init(
            challenges: [#"Digest realm="lab", nonce="NONCE", qop="auth", charset=UTF-8"#],
            user: #"jörg "\" ü"#),
        .init(
            challenges: [
                "Negotiate", #"Digest realm="lab", nonce="NONCE", qop="auth", algorithm=SHA-256"#,
                #"Digest realm="lab", nonce="NONCE", qop="auth", algorithm=MD5"#,
                #"Basic realm="b""#,
            ], algorithm: .sha256),
        .init(challenges: [
            #"Negotiate, Basic realm="b, x=y", Digest realm="lab", nonce="NONCE", qop="auth""#
        ]),
        .init(
            challenges: [#"Digest realm="lab", nonce="NONCE", qop="auth""#], goesStale: true),
        .init(challenges: [offer("SHA-512-256")], algorithm: .sha512Half),
    ]

    private static func offer(_ algorithm: String, _ more: String = "") -> String {
        #"Digest realm="lab", nonce="NONCE", qop="auth", algorithm="# + algorithm + more
    }

    /// Several challenges, and by which algorithm one of them is met.
    private static let offers: [DigestLab.Kind] = [
        .init(challenges: [offer("SHA-256"), offer("MD5")], algorithm: .sha256),
        .init(challenges: [offer("MD5"), offer("SHA-256")], algorithm: .sha256),
        // RFC 7616 §3.9.2.
        .init(
            challenges: [offer("SHA-512-256"), offer("SHA-256"), offer("MD5")],
            algorithm: .sha512Half),
        .init(challenges: [offer("SHA-1024"), offer("MD5")]),
        .init(challenges: [
            #"Digest realm="lab", nonce="NONCE", qop="auth-int", algorithm=SHA-256"#, offer("MD5"),
        ]),
        .init(challenges: [#"Digest realm="lab", algorithm=SHA-256, qop=auth"#, offer("MD5")]),
        .init(challenges: [#"Basic realm="lab""#, offer("MD5")]),
        .init(
            challenges: [#"Basic realm="x", "# + offer("MD5") + ", " + offer("SHA-256")],
            algorithm: .sha256),
        .init(
            challenges: [
                #"Custom note="x, Digest realm=\"lab\", nonce=\"n\", algorithm=SHA-512-256", "#
                    + offer("MD5", #", domain="/a, /b", opaque="o,p""#) + ", Negotiate abc==, "
                    + offer("SHA-256", #", opaque="q, Basic realm=\"r\"""#)
            ], algorithm: .sha256, opaque: #"q, Basic realm="r""#),
    ]

    private func load(
        _ digest: DigestLab, _ delegate: ChallengeDelegate
    ) async throws -> Loaded {
        let origin = try lab.origin(digest.answer)
        defer { origin.stop() }
        let session = try lab.session(delegate: delegate)
        return await session.load(try origin.page("/a%20b/?c=%2F&d=%22e%22"))
    }

    @Test(arguments: SessionDigestTests.kinds + SessionDigestTests.offers)
    func `a Digest opens the door, and is asked about once`(kind: DigestLab.Kind) async throws {
        let digest = DigestLab(kind)
        let delegate = ChallengeDelegate(onChallenge: { _, _ in
            (
                .useCredential,
                URLCredential(
                    user: kind.user, password: DigestLab.password, persistence: .none)
            )
        })
        let answer = try await load(digest, delegate)
        #expect(answer.text == "welcome")
        #expect(delegate.asked.map(\.realm) == [kind.realm])
        #expect(delegate.asked.map(\.method) == [NSURLAuthenticationMethodHTTPDigest])
        #expect(digest.staleAnswers == (kind.goesStale ? 1 : 0))
    }

    @Test func `a redirect's target has a nonce of its own, and nobody is asked again`()
        async throws
    {
        let asked = Locked<[String]>([])
        let answering: @Sendable (LabRequest) -> LabResponse = { request in
            let sent = request.value(of: "Authorization")
            asked.withLock { $0.append(request.path + (sent == nil ? "" : " answered")) }
            guard sent?.contains("nonce=\"\(request.path)\"") == true else {
                var answer = LabResponse.text("who?", status: 401)
                answer.fields.append(
                    LabField(
                        "WWW-Authenticate",
                        #"Digest realm="lab", nonce="\#(request.path)", qop="auth""#))
                return answer
            }
            return request.path == "/one" ? .redirect(to: "/two") : .text("welcome")
        }
        let origin = try lab.origin(answering)
        defer { origin.stop() }
        let delegate = ChallengeDelegate(onChallenge: { _, _ in
            (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        })
        let session = try lab.session(delegate: delegate)
        let answer = await session.load(try origin.page("/one"))
        #expect(answer.text == "welcome")
        #expect(delegate.asked.count == 1)
        #expect(asked.withLock { $0 } == ["/one", "/one answered", "/two", "/two answered"])
    }

    @Test func `a server whose nonces are all stale is not asked for ever`() async throws {
        let asked = Locked(0)
        let origin = try lab.origin { _ in
            let number = asked.withLock { count in
                count += 1
                return count
            }
            var answer = LabResponse.text("who?", status: 401)
            answer.fields.append(
                LabField(
                    "WWW-Authenticate",
                    #"Digest realm="lab", nonce="\#(number)", qop="auth", stale=true"#))
            return answer
        }
        defer { origin.stop() }
        let delegate = ChallengeDelegate(onChallenge: { _, _ in
            (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        })
        let session = try lab.session(delegate: delegate)
        let answer = await session.load(try origin.page("/"))
        #expect(answer.text == "who?")
        #expect(delegate.asked.count == 1)
        // Without credentials, and with three of them.
        #expect(asked.withLock { $0 } == 4)
    }

    @Test(arguments: [
        [#"Digest realm="lab", nonce="NONCE", qop="auth-int""#],
        [#"Digest realm="lab", nonce="NONCE", qop="auth", algorithm=SHA-1024"#],
        [#"Digest realm="lab", qop="auth""#],
        [#"Digest realm="lab", nonce="NONCE", algorithm=SHA-256-sess"#],
        [#"Custom note="x, Digest y=z, nonce=n""#],
    ])
    func `a Digest that cannot be met is nobody's question, and the 401 comes`(
        challenges: [String]
    ) async throws {
        let delegate = ChallengeDelegate()
        let answer = try await load(DigestLab(.init(challenges: challenges)), delegate)
        #expect(answer.text == "who?")
        #expect(delegate.asked.isEmpty)
        // What is offered beside it is met.
        let second = ChallengeDelegate()
        _ = try await load(
            DigestLab(.init(challenges: challenges + [#"Basic realm="b""#])), second)
        #expect(second.asked.map(\.method) == [NSURLAuthenticationMethodHTTPBasic])
    }
}
