import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession

// The second half: the address comes over HTTPS from a service the network cannot imitate.
extension Demo {
    mutating func askHTTPDNS() async throws {
        let httpdns = try HTTPDNS(try truthfulSettings())
        let clock = ContinuousClock()

        story.chapter(2, "Ask an HTTP-DNS service instead")
        let asked = clock.now
        let truth = try await httpdns.resolver.resolve(.name(world.shop))
        story.fact(
            "HTTP-DNS says",
            "\(World.shopName) is at \(truth.addresses[0]), good for \(truth.ttlSeconds) s",
            took: clock.now - asked)
        story.claim(
            "the answer is the shop's own address", truth.addresses == [world.origin.address])

        try rewrite(to: truth.addresses[0])
        let session = Demo.session(through: httpdns)
        let first = try await visit(session)
        try await visitAgain(session, httpdns, first: first)
    }

    private func truthfulSettings() throws -> HTTPDNSConfiguration {
        // Aliyun's protocol, at a server of our own: its name, and the address to reach it at.
        var service = try ResolverDescription("aliyun")
        service.account = World.account
        service.endpoint = try HTTPURL("https://httpdns.example.test:\(world.httpDNS.port)")
        service.bootstrap = [LabAddress.ipv4]

        var settings = HTTPDNSConfiguration()
        settings.resolvers = [service]
        settings.resolverOptions.families = [.ipv4]
        settings.resolverTrust = TrustPolicy(roots: .pem(world.authority.certificatePEM))
        settings.trust = TrustPolicy(roots: .pem(world.authority.certificatePEM))
        return settings
    }

    private mutating func rewrite(to address: IPAddress) throws {
        story.chapter(3, "Rewrite the request: the address only says where to connect")
        let request = RequestHead(url: try HTTPURL(url.absoluteString))
        let wire = try HostRewriter().rewrite(request, to: address)
        story.fact("connect to", wire.url)
        story.fact("Host", wire.authority)
        story.fact("SNI", wire.serverName?.text ?? "none")
        story.fact("certificate", "must be for \(wire.verifyAs)")
        story.claim(
            "Host, SNI and the certificate's name are still the shop's",
            wire.authority == "\(World.shopName):\(world.origin.port)"
                && wire.serverName == world.shop && wire.verifyAs == .name(world.shop)
                && wire.url == "https://\(address):\(world.origin.port)/")
    }

    /// How long the visit took.
    private mutating func visit(_ session: URLSession) async throws -> Duration {
        story.chapter(4, "Send it, through a stock URLSession")
        story.fact("URLSession", "GET \(url)")
        let sent = ContinuousClock.now
        let (body, response) = try await session.data(from: url)
        let took = ContinuousClock.now - sent
        let page = String(decoding: body, as: UTF8.self)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        story.fact(
            "answer", "\(status) from \(response.url?.absoluteString ?? "nowhere")", took: took)
        story.fact("page", page)

        let log = world.origin.record
        for request in log.requests {
            let cookie = request.value(of: "Cookie") ?? "none"
            story.fact(
                "shop's log",
                "\(request.method) \(request.path)  Host: \(request.host ?? "none")"
                    + "  Cookie: \(cookie)")
        }
        story.claim("the shop proved its name", Set(log.serverNames) == [World.shopName])
        story.claim("the page came", status == 200 && page.hasPrefix("Welcome to the real shop"))
        story.claim(
            "the redirect was followed under the shop's name",
            response.url?.host == World.shopName && response.url?.path == "/welcome",
            instead: response.url?.absoluteString ?? "no URL")
        let cookies = session.configuration.httpCookieStorage?.cookies ?? []
        story.claim(
            "the cookie is the shop's, not the address's, and came back with the next request",
            cookies.map(\.domain) == [World.shopName] && page.hasSuffix("apples."),
            instead: "\(cookies.map(\.domain))")
        return took
    }

    private mutating func visitAgain(
        _ session: URLSession, _ httpdns: HTTPDNS, first: Duration
    ) async throws {
        story.chapter(5, "Send another: the address is remembered for as long as it is good")
        let sent = ContinuousClock.now
        let page = url.appendingPathComponent("welcome")
        let (_, response) = try await session.data(from: page)
        story.fact(
            "answer",
            "\((response as? HTTPURLResponse)?.statusCode ?? 0), the first took "
                + Story.milliseconds(first), took: ContinuousClock.now - sent)
        let kept = httpdns.resolver.cachedAddresses(for: world.shop)
        story.fact(
            "cache", "\(kept.first?.description ?? "-"), \(kept.secondsLeft) s left")
        let questions = world.httpDNS.record.requests.count
        story.claim(
            "HTTP-DNS was asked once for all of this", questions == 1 && !kept.isEmpty,
            instead: "\(questions) questions")
        story.claim(
            "the hijacker was not connected to again",
            world.hijacker.server.record.connections == 1)
    }
}
