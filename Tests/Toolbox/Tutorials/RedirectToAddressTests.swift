import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// The system that tutorials on HTTPDNS build: a request for a name goes to the address that
/// HTTPDNS gave; cookies, `Host`, SNI and the certificate check stay those of the name.
@Suite(.timeLimit(.minutes(2))) struct RedirectToAddressTests {
    private let host = "shop.example.test"

    /// A shop with a login; it tells who it thinks it is.
    private func shop(_ lab: RuleLab) throws -> LabServer {
        try lab.origin([host]) { request in
            switch request.path {
            case "/login":
                var answer = LabResponse.redirect(to: "/cart")
                answer.fields.append(LabField("Set-Cookie", "sid=7; Path=/; Secure; HttpOnly"))
                return answer
            case "/cart":
                return .text(
                    "cart of \(request.value(of: "Cookie") ?? "nobody") at \(request.host ?? "")")
            default: return .text("page")
            }
        }
    }

    @Test
    func `a login through the address leaves cookies under the name, and follows the redirect`()
        async throws
    {
        let lab = try RuleLab()
        let shop = try shop(lab)
        defer { shop.stop() }
        let httpdns = try lab.httpdns([host: [LabAddress.ipv4]])
        let session = httpdns.session(configuration: .ephemeral)

        let cart = try await session.answer(shop.url(host: host, path: "/login"))

        #expect(cart.text == "cart of sid=7 at \(host):\(shop.port)")
        #expect(cart.response?.url?.absoluteString == shop.url(host: host, path: "/cart"))
        let kept = session.configuration.httpCookieStorage?.cookies ?? []
        #expect(kept.map(\.domain) == [host] && kept.map(\.isSecure) == [true])
        #expect(Set(shop.record.serverNames) == [host])
    }

    @Test func `an address that cannot prove the name is passed over, and nothing is sent to it`()
        async throws
    {
        let lab = try RuleLab()
        let shop = try shop(lab)
        defer { shop.stop() }
        let thief = try lab.origin(
            ["thief.example.test"], at: LabAddress.ipv4(host: 2), port: shop.port)
        defer { thief.stop() }
        let both = [LabAddress.ipv4(host: 2), LabAddress.ipv4]
        let session = try lab.httpdns([host: both]).session(configuration: .ephemeral)
        #expect(try await session.answer(shop.url(host: host, path: "/x")).text == "page")
        let alone = try lab.httpdns([host: [LabAddress.ipv4(host: 2)]]).session(
            configuration: .ephemeral)
        let stolen = try await alone.answer(shop.url(host: host, path: "/login"))
        #expect(stolen.code == .serverCertificateUntrusted && stolen.cause?.label == "wrong_name")
        #expect(thief.record.requests.isEmpty)
    }

    @Test func `a certificate of an unknown authority is refused, whoever gave the address`()
        async throws
    {
        let lab = try RuleLab()
        let other = try RuleLab()
        let impostor = try other.origin([host])
        defer { impostor.stop() }
        let session = try lab.httpdns([host: [LabAddress.ipv4]]).session(configuration: .ephemeral)
        let answer = try await session.answer(impostor.url(host: host))
        #expect(answer.code == .serverCertificateHasUnknownRoot)
        #expect(impostor.record.requests.isEmpty)
    }

    @Test func `a rule takes the place of the resolver, for one host`() async throws {
        let lab = try RuleLab()
        let shop = try shop(lab)
        defer { shop.stop() }
        let rules: LiveRules = [
            RequestRule("pinned", try .host(host), .addresses([LabAddress.ipv4]))
        ]
        let session = try lab.session(rules, try lab.httpdns([:]))
        #expect(try await session.answer(shop.url(host: host, path: "/x")).text == "page")
        let elsewhere = try await session.answer("https://other.example.test:\(shop.port)/")
        #expect(elsewhere.cause.map { "\($0.cause)".contains("notResolved") } == true)
    }
}
