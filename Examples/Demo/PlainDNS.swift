import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession

// The first half: the network's own DNS is believed, and the certificate is what saves the request.
extension Demo {
    mutating func askPlainDNS() async throws {
        story.chapter(1, "Ask the network's DNS, and believe it")
        var settings = HTTPDNSConfiguration()
        settings.resolvers = [try ResolverDescription(world.hijacker.dns.endpoint)]
        settings.resolverOptions.families = [.ipv4]
        settings.trust = TrustPolicy(roots: .pem(world.authority.certificatePEM))
        let httpdns = try HTTPDNS(settings)

        let clock = ContinuousClock()
        let asked = clock.now
        let lie = try await httpdns.resolver.resolve(.name(world.shop))
        story.fact(
            "DNS says", "\(World.shopName) is at \(lie.addresses[0])", took: clock.now - asked)
        story.claim(
            "the answer is a lie: it is the hijacker's address",
            lie.addresses == [world.hijacker.server.address])

        let session = Demo.session(through: httpdns)
        story.fact("URLSession", "GET \(url)")
        let sent = clock.now
        var failure: URLError?
        do { _ = try await session.data(from: url) } catch { failure = error as? URLError }
        explain(failure, took: clock.now - sent)
    }

    private mutating func explain(_ failure: URLError?, took: Duration) {
        let cause = failure?.userInfo[NSUnderlyingErrorKey] as? ExchangeFailure
        story.fact("fails with", "URLError \(failure?.errorCode ?? 0)", took: took)
        for line in (cause?.description ?? "no reason").split(separator: "\n") {
            story.fact("", String(line))
        }
        story.claim(
            "the hijacker's certificate was refused: it is for another name",
            cause?.label == "wrong_name", instead: cause?.label ?? "no failure")

        let liar = world.hijacker.server
        _ = liar.awaitConnectionsEnded()
        let log = liar.record
        story.fact(
            "hijacker's log",
            "\(log.connections) connection, asked for \"\(log.serverNames.joined())\", "
                + "\(log.receivedOctets) bytes of HTTP")
        story.claim(
            "the hijacker was really connected to", log.serverNames == [World.shopName])
        story.claim(
            "it was refused before a byte of the request was sent",
            log.receivedOctets == 0 && log.requests.isEmpty,
            instead: "\(log.receivedOctets) bytes")
    }

    /// A stock session; installing is the only line that has to do with this library.
    static func session(through httpdns: HTTPDNS) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 4
        httpdns.install(into: configuration)
        return URLSession(configuration: configuration)
    }
}
