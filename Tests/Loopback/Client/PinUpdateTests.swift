import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct PinUpdateTests {
    private static func pins(_ texts: String...) throws -> PinSet {
        var pins = PinSet()
        try pins.add(texts, for: "**.example.test", backup: .waived)
        return pins
    }

    private static let stranger = "sha256/" + String(repeating: "A", count: 43) + "="

    @Test func `changed pins hold for the next request, on a new connection`() async throws {
        let lab = try ClientLab()
        let origin = try lab.origin()
        defer { origin.stop() }
        let httpdns = try lab.httpdns()
        _ = try await httpdns.client.get(origin.httpURL("/1"))
        _ = try await httpdns.client.get(origin.httpURL("/2"))
        #expect(origin.record.connections == 1)
        try httpdns.update(pins: Self.pins(Self.stranger))
        let failure = await httpdns.client.failure(of: HTTPRequest(.get, try origin.httpURL("/3")))
        guard case .untrusted(let refusal) = failure?.cause else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(refusal.code == .noPinMatched)
        let root = lab.root.identity.pin
        try httpdns.update(pins: Self.pins(root.description, Self.stranger))
        let answer = try await httpdns.client.get(origin.httpURL("/4"))
        #expect(answer.report.hops[0].peer?.matchedPin == root)
        #expect(origin.record.requests.map(\.path) == ["/1", "/2", "/4"])
        #expect(origin.record.connections == 3)
    }

    @Test func `what is in flight when pins change ends as it began`() async throws {
        let lab = try ClientLab()
        let isAsked = ConditionLocked<[Bool]>([])
        let mayAnswer = ConditionLocked<[Bool]>([])
        let origin = try lab.origin { request in
            guard request.path == "/slow" else { return .text("fast") }
            isAsked.withLockSignalling { $0 = [true] }
            _ = mayAnswer.waitAndTake({ said, _ in said }, until: { _ in nil })
            return .redirect(to: "/landed")
        }
        defer { origin.stop() }
        let httpdns = try lab.httpdns()
        let url = try origin.httpURL("/slow")
        let slow = Task { try await httpdns.client.get(url) }
        _ = try await offPool { isAsked.waitAndTake({ said, _ in said }, until: { _ in nil }) }
        try httpdns.update(pins: Self.pins(Self.stranger))
        mayAnswer.withLockSignalling { $0 = [true] }
        let answer = try await slow.value
        #expect(answer.text == "fast")
        #expect(answer.report.hops.count == 2)
        let failure = await httpdns.client.failure(of: HTTPRequest(.get, try origin.httpURL("/")))
        #expect(failure?.label == "no_pin_matched")
    }

    @Test func `a policy that cannot be put to use leaves the old one`() async throws {
        let lab = try ClientLab()
        let httpdns = try lab.httpdns()
        let before = httpdns.trust
        #expect(throws: SetupFault.self) {
            try httpdns.update(trust: TrustPolicy(roots: .file("/nonexistent/roots.pem")))
        }
        #expect(httpdns.trust == before)
    }

    @Test func `a refusal says the pins, the address, who gave it, and what to replace`()
        async throws
    {
        let lab = try ClientLab()
        let origin = try lab.origin()
        defer { origin.stop() }
        let pins = try Self.pins(Self.stranger)
        let httpdns = try lab.httpdns { $0.trust.pins = pins }
        let failure = await httpdns.client.failure(of: HTTPRequest(.get, try origin.httpURL("/")))
        let message = failure?.description ?? ""
        let leaf = try #require(failure?.leaf)
        for part in [
            "No pin matched for shop.example.test (connected to 127.0.0.1, an address given by "
                + "override).", "\(leaf.pin)", "\(lab.root.identity.pin)", Self.stranger,
            "replace the entry of **.example.test by:",
            "try settings.trust.pins.add([\"\(leaf.pin)\", \"\(Self.stranger)\"], for: "
                + "\"**.example.test\")",
        ] {
            #expect(message.contains(part), "\(message)")
        }
        #expect(origin.record.receivedOctets == 0)
    }
}

extension ExchangeFailure {
    fileprivate var leaf: CertificateFacts? {
        if case .untrusted(let failure) = cause { failure.facts.chain.first } else { nil }
    }
}
