import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// Basic and Digest challenges are answered here, by the session's credentials or its delegate.
@Suite(.timeLimit(.minutes(2))) struct SessionChallengeTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private func origin() throws -> LabServer { try lab.origin(ChallengeLab.answer) }

    private static let giving:
        @Sendable (AskedChallenge, URLCredential?) ->
            ChallengeDelegate
            .Answer = { _, _ in (.useCredential, ChallengeLab.credential()) }

    @Test(arguments: ["basic", "digest"])
    func `a delegate is asked on its queue, and its credential opens the door`(
        scheme: String
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = ChallengeDelegate(onChallenge: SessionChallengeTests.giving)
        let session = try lab.session(delegate: delegate)
        let answer = await session.load(try origin.page("/\(scheme)/a%20b?c=%2F"))
        #expect(answer.text == "welcome GET 0")
        #expect(
            delegate.asked == [
                AskedChallenge(
                    method: scheme == "basic"
                        ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest,
                    realm: scheme == "basic" ? #"the "lab""# : "lab", host: SessionLab.host,
                    port: Int(origin.port.number), failures: 0, status: 401, hasProposal: false)
            ])
        #expect(delegate.wasOnQueue)
        #expect(origin.record.requests.count == 2)
        // What worked is kept as the credential says: the next task needs nobody.
        #expect(await session.load(try origin.page("/\(scheme)/")).text == "welcome GET 0")
        #expect(delegate.asked.count == 2)
        #expect(delegate.asked.last?.hasProposal == true)
    }

    @Test(arguments: ["basic", "digest", "both"])
    func `credentials of the session's storage are used without a delegate, and async calls too`(
        scheme: String
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let storage = URLCredentialStorage()
        let session = try lab.session { $0.urlCredentialStorage = storage }
        let methods = [
            NSURLAuthenticationMethodHTTPBasic: #"the "lab""#,
            NSURLAuthenticationMethodHTTPDigest: "lab",
        ]
        for (method, realm) in methods {
            storage.setDefaultCredential(
                ChallengeLab.credential(),
                for: URLProtectionSpace(
                    host: SessionLab.host, port: Int(origin.port.number), protocol: "https",
                    realm: realm, authenticationMethod: method))
        }
        let (data, _) = try await session.data(from: try origin.page("/\(scheme)/"))
        #expect(data == Data("welcome GET 0".utf8))
        // Of two schemes the safer one.
        let sent = origin.record.requests.compactMap { $0.value(of: "Authorization") }
        #expect(sent.allSatisfy { $0.hasPrefix(scheme == "basic" ? "Basic " : "Digest ") })
        #expect(!sent.isEmpty)
    }

    /// A storage with a credential for the scheme of that method alone.
    private func storage(
        _ origin: LabServer, _ password: String = ChallengeLab.password,
        method: String = NSURLAuthenticationMethodHTTPBasic
    ) -> URLCredentialStorage {
        let storage = URLCredentialStorage()
        add(password, to: storage, origin, method)
        return storage
    }

    private func add(
        _ password: String, to storage: URLCredentialStorage, _ origin: LabServer, _ method: String
    ) {
        let isBasic = method == NSURLAuthenticationMethodHTTPBasic
        storage.setDefaultCredential(
            ChallengeLab.credential(password),
            for: URLProtectionSpace(
                host: SessionLab.host, port: Int(origin.port.number), protocol: "https",
                realm: isBasic ? #"the "lab""# : "lab", authenticationMethod: method))
    }

    @Test(arguments: ["both", "newer"])
    func `of the schemes that are offered the one with a credential is met`(
        scheme: String
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let storage = storage(origin)
        let session = try lab.session { $0.urlCredentialStorage = storage }
        #expect(await session.load(try origin.page("/\(scheme)/")).text == "welcome GET 0")
        // Where the delegate asks for the default, and where it rejects what has none.
        let refusals: [URLSession.AuthChallengeDisposition] = [
            .performDefaultHandling, .rejectProtectionSpace,
        ]
        for refuses in refusals {
            let delegate = ChallengeDelegate { asked, _ in
                asked.hasProposal ? (.performDefaultHandling, nil) : (refuses, nil)
            }
            let asking = try lab.session(delegate: delegate) { $0.urlCredentialStorage = storage }
            #expect(await asking.load(try origin.page("/\(scheme)/")).text == "welcome GET 0")
            // A Digest that nobody here can compute is not asked about.
            let isAskedTwice = scheme == "both" && refuses == .rejectProtectionSpace
            #expect(delegate.asked.count == (isAskedTwice ? 2 : 1))
        }
        let sent = origin.record.requests.compactMap { $0.value(of: "Authorization") }
        #expect(sent.count == 3)
        #expect(sent.allSatisfy { $0.hasPrefix("Basic ") })
    }

    @Test func `a challenge whose body never comes is met all the same`() async throws {
        let server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                guard !head.contains("Authorization: ") else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nwelcome")
                    continue
                }
                connection.send(
                    "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=x\r\n"
                        + "Content-Length: 10\r\n\r\n")
                return connection.waitForEnd()
            }
        }
        let delegate = ChallengeDelegate(onChallenge: SessionChallengeTests.giving)
        let session = try lab.session(delegate: delegate)
        let url = "http://\(SessionLab.host):\(server.endpoint.port)/"
        var request = URLRequest(url: try #require(URL(string: url)))
        // Nothing else ends it within the time of this suite.
        request.timeoutInterval = 600
        #expect(await session.load(request).text == "welcome")
        #expect(server.connections == 2)
    }

    @Test func `where both schemes' credentials are refused each is sent once, and the 401 comes`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let storage = storage(origin, "wrong")
        add("wrong, too", to: storage, origin, NSURLAuthenticationMethodHTTPDigest)
        let session = try lab.session { $0.urlCredentialStorage = storage }
        let answer = await session.load(try origin.page("/both/"))
        #expect(answer.status == 401)
        #expect(answer.text == "who?")
        let sent = origin.record.requests.compactMap { $0.value(of: "Authorization") }
        #expect(sent.map { String($0.prefix(6)) } == ["Digest", "Basic "])
    }

    @Test(arguments: ["basic", "digest"])
    func `failures are counted, and the last 401 comes with its body`(
        scheme: String
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = ChallengeDelegate { asked, _ in
            asked.failures < 2
                ? (.useCredential, ChallengeLab.credential("wrong\(asked.failures)"))
                : (.performDefaultHandling, nil)
        }
        let answer = await (try lab.session(delegate: delegate)).load(
            try origin.page("/\(scheme)/"))
        #expect(answer.status == 401)
        #expect(answer.text == "who?")
        #expect(delegate.asked.map(\.failures) == [0, 1, 2])
    }

    @Test func `cancelling ends the task, rejecting leads to the next scheme, then to the 401`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let cancelling = ChallengeDelegate { _, _ in (.cancelAuthenticationChallenge, nil) }
        let cancelled = await (try lab.session(delegate: cancelling)).load(
            try origin.page("/both/"))
        #expect(cancelled.error?.code == .cancelled)
        #expect(origin.record.requests.count == 1)
        let picky = ChallengeDelegate { asked, _ in
            asked.method == NSURLAuthenticationMethodHTTPBasic
                ? (.useCredential, ChallengeLab.credential()) : (.rejectProtectionSpace, nil)
        }
        let session = try lab.session(delegate: picky)
        #expect(await session.load(try origin.page("/both/")).text == "welcome GET 0")
        #expect(await session.load(try origin.page("/digest/")).status == 401)
        let empty = ChallengeDelegate { _, _ in (.useCredential, nil) }
        #expect(
            await (try lab.session(delegate: empty)).load(try origin.page("/basic/")).status
                == 401)
    }

    @Test func `user and password in the URL meet both schemes and are never in a URL`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        for scheme in ["basic", "digest"] {
            let text = "https://u:p%3A%C3%A4@\(SessionLab.host):\(origin.port)/\(scheme)/"
            let answer = await session.load(try #require(URL(string: text)))
            #expect(answer.text == "welcome GET 0", "\(scheme)")
            #expect(answer.response?.url == (try origin.page("/\(scheme)/")))
        }
        #expect(origin.record.requests.allSatisfy { !$0.target.contains("@") })
        #expect(origin.record.requests.allSatisfy { $0.host?.contains("@") == false })
    }

    @Test func `what the application sends itself goes through, and a 401 to it is its own`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = ChallengeDelegate(onChallenge: SessionChallengeTests.giving)
        let session = try lab.session(delegate: delegate)
        var request = URLRequest(url: try origin.page("/both/"))
        request.setValue("Bearer t0ken", forHTTPHeaderField: "Authorization")
        let answer = await session.load(request)
        #expect(answer.status == 401)
        #expect(delegate.asked.isEmpty)
        #expect(origin.record.requests.map { $0.value(of: "Authorization") } == ["Bearer t0ken"])
    }

    @Test func `credentials do not cross to another origin`() async throws {
        let other = try lab.lab.origin(["other.example.test"], ChallengeLab.answer)
        defer { other.stop() }
        let origin = try lab.origin { request in
            let answer = ChallengeLab.answer(request)
            guard answer.status == 200 else { return answer }
            return .redirect(to: other.url(host: "other.example.test", path: "/basic/"))
        }
        defer { origin.stop() }
        let delegate = ChallengeDelegate { asked, _ in
            asked.host == SessionLab.host
                ? (.useCredential, ChallengeLab.credential()) : (.performDefaultHandling, nil)
        }
        let httpdns = try lab.lab.httpdns([
            SessionLab.host: [LabAddress.ipv4], "other.example.test": [LabAddress.ipv4],
        ])
        let session = try lab.session(httpdns, delegate: delegate)
        for scheme in ["basic", "digest"] {
            #expect(await session.load(try origin.page("/\(scheme)/")).status == 401)
        }
        #expect(other.record.requests.count == 2)
        #expect(other.record.requests.allSatisfy { $0.value(of: "Authorization") == nil })
        #expect(delegate.asked.contains { $0.host == "other.example.test" })
    }

    @Test(arguments: ["basic", "digest"])
    func `a body is sent again whole; one that cannot be sends nobody a credential`(
        scheme: String
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let body = Data.pattern(300_000)
        var request = URLRequest(url: try origin.page("/\(scheme)/"))
        request.httpMethod = "POST"
        let delegate = ChallengeDelegate(
            onChallenge: SessionChallengeTests.giving, onStream: { InputStream(data: body) })
        let session = try lab.session(delegate: delegate)
        #expect(await session.upload(request, from: body).text == "welcome POST 300000")
        var streamed = request
        streamed.httpBodyStream = InputStream(data: body)
        #expect(await session.load(streamed).text == "welcome POST 300000")
        #expect(delegate.streams >= 1)
        let giving = ChallengeDelegate(onChallenge: SessionChallengeTests.giving)
        streamed.httpBodyStream = InputStream(data: body)
        let refused = await (try lab.session(delegate: giving)).load(streamed)
        #expect(refused.status == 401)
        #expect(refused.text == "who?")
        #expect(giving.streams == 1)
    }

    @Test func `a session's own delegate is asked where it is not one of tasks`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = PlainSessionDelegate()
        let session = try lab.session(delegate: delegate)
        #expect(await session.load(try origin.page("/digest/")).text == "welcome GET 0")
        #expect(delegate.challenges == 1)
    }

    @Test func `a credential that would begin another field is not sent`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let delegate = ChallengeDelegate { _, _ in
            (
                .useCredential,
                URLCredential(user: "u", password: "p\r\nX-Evil: 1", persistence: .none)
            )
        }
        let session = try lab.session(delegate: delegate)
        #expect(await session.load(try origin.page("/basic/")).status == 401)
        #expect(origin.record.requests.count == 1)
    }

    @Test func `delegate tasks and downloads hear of the last answer alone`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let storage = URLCredentialStorage()
        storage.setDefaultCredential(
            ChallengeLab.credential(),
            for: URLProtectionSpace(
                host: SessionLab.host, port: Int(origin.port.number), protocol: "https",
                realm: "lab", authenticationMethod: NSURLAuthenticationMethodHTTPDigest))
        let recorder = DelegateRecorder(challenge: .performDefaultHandling)
        let session = try lab.session(delegate: recorder) { $0.urlCredentialStorage = storage }
        session.dataTask(with: try origin.page("/digest/")).resume()
        let story = await recorder.ended()
        #expect(story.responses == [200])
        #expect(story.data == Data("welcome GET 0".utf8))
        #expect(story.challenges == 1)
        let got = await session.download(URLRequest(url: try origin.page("/digest/")))
        #expect(got.data == Data("welcome GET 0".utf8))
    }
}
