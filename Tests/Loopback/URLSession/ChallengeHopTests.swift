import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import Testing

/// Challenges on the way over several origins.
@Suite(.timeLimit(.minutes(2))) struct ChallengeHopTests {
    private static let other = "other.example.test"
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private func httpdns() throws -> HTTPDNS {
        try lab.lab.httpdns([
            SessionLab.host: [LabAddress.ipv4], Self.other: [LabAddress.ipv4],
        ])
    }

    private func space(_ host: String, _ server: LabServer) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: Int(server.port.number), protocol: "https", realm: #"the "lab""#,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    }

    @Test func `who was met is met again when another origin leads back to it`() async throws {
        let home = Locked<URL?>(nil)
        let other = try lab.lab.origin([Self.other]) { request in
            let answer = ChallengeLab.answer(request)
            guard answer.status == 200, let home = home.withLock({ $0 }) else { return answer }
            return .redirect(to: home.absoluteString)
        }
        defer { other.stop() }
        let origin = try lab.origin { request in
            let answer = ChallengeLab.answer(request)
            guard answer.status == 200, request.path == "/basic/away" else { return answer }
            return .redirect(to: other.url(host: Self.other, path: "/basic/"))
        }
        defer { origin.stop() }
        home.withLock { $0 = try? origin.page("/basic/home") }
        let storage = URLCredentialStorage()
        for space in [space(SessionLab.host, origin), space(Self.other, other)] {
            storage.setDefaultCredential(ChallengeLab.credential(), for: space)
        }
        let session = try lab.session(try httpdns()) { $0.urlCredentialStorage = storage }
        let answer = await session.load(try origin.page("/basic/away"))
        #expect(answer.text == "welcome GET 0")
        #expect(answer.response?.url == (try origin.page("/basic/home")))
        #expect(
            origin.record.requests.map(\.path) == [
                "/basic/away", "/basic/away", "/basic/home", "/basic/home",
            ])
        #expect(other.record.requests.count == 2)
    }

    @Test func `what worked is kept where a redirect leads to another origin`() async throws {
        let other = try lab.lab.origin([Self.other])
        defer { other.stop() }
        let origin = try lab.origin { request in
            let answer = ChallengeLab.answer(request)
            return answer.status == 200
                ? .redirect(to: other.url(host: Self.other, path: "/there")) : answer
        }
        defer { origin.stop() }
        let storage = URLCredentialStorage()
        let delegate = ChallengeDelegate { _, _ in (.useCredential, ChallengeLab.credential()) }
        let httpdns = try httpdns()
        let asking = try lab.session(httpdns, delegate: delegate) {
            $0.urlCredentialStorage = storage
        }
        #expect(await asking.load(try origin.page("/basic/")).text == "hello /there")
        #expect(delegate.asked.count == 1)
        #expect(storage.allCredentials.map(\.key.host) == [SessionLab.host])
        // The next task needs nobody.
        let session = try lab.session(httpdns) { $0.urlCredentialStorage = storage }
        #expect(await session.load(try origin.page("/basic/")).text == "hello /there")
    }
}
