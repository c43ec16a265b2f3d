import HTTPDNS
import HTTPDNSDiagnosis
import HTTPDNSEvidence
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// What pages and services say besides: where they lead, and what time it is.
@Suite(.timeLimit(.minutes(3))) struct RunPageTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    @Test func `a redirect is kept without the secrets in it, and so is the probe's URL`()
        async throws
    {
        let lab = try DiagnosisLab()
        let portal = try LabServer { _ in
            .redirect(
                to: "https://guest:hunter2@portal.test/in?mac=02-00&access_token=\(Self.token)"
                    + "#session_id=\(Self.token)")
        }
        try portal.start()
        defer { portal.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.probe = try HTTPURL(
                "http://\(LabAddress.ipv4):\(portal.port)/generate_204?token=\(Self.token)")
        }
        let fetch = try #require(diagnosis.evidence.fetches.first { $0.purpose == .portalProbe })
        let location = try #require(try fetch.result.get().location)
        #expect(location.contains("portal.test/in?mac=02-00&access_token=REDACTED"))
        #expect(portal.record.requests.contains { $0.target.contains(Self.token) })
        let everything = "\(diagnosis)"
        for secret in [Self.token, "hunter2", "guest"] {
            #expect(!everything.contains(secret), "\(secret)")
        }
        #expect(everything.contains("portal.test"))
    }

    /// A service whose clock is so far from ours, and what it says of the date.
    private static func service(
        _ lab: DiagnosisLab, date: @escaping @Sendable () -> [LabField]
    ) throws -> LabServer {
        let table = LabTable(lab.name, [DiagnosisLab.right])
        let identity = try lab.authority.leaf([.address(LabAddress.ipv4)])
        let server = try LabServer(security: .tls(identity)) { request in
            guard let query = try? Message(decoding: request.body),
                let asked = query.questions.first
            else { return .text("?", status: 400) }
            var reply = Message(id: query.id, questions: [asked])
            reply.flags.isResponse = true
            let said = table.answer(
                LabQuestion(name: asked.name, type: asked.type, isTCP: true))
            reply.code = said.code
            reply.answers = said.answers
            return LabResponse(
                fields: [LabField("Content-Type", "application/dns-message")] + date(),
                body: (try? reply.encode()) ?? [])
        }
        try server.start()
        return server
    }

    private static func backend(
        _ lab: DiagnosisLab, at server: LabServer
    ) throws -> any ResolverBackend {
        var description = try ResolverDescription(
            "https://\(LabAddress.ipv4):\(server.port)/dns-query")
        description.usesPOST = true
        return try ResolverFactory(
            trust: TrustPolicy(roots: .pem(lab.authority.certificatePEM)), transport: Transport()
        ).backend(for: description)
    }

    /// 2026-01-01T00:00:00Z, and as a field says it.
    private static let moment = WallTime(secondsSince1970: 1_767_225_600)
    private static let date = "Thu, 01 Jan 2026 00:00:00 GMT"

    @Test func `the date of a trusted source is evidence, with what it has aged in a cache`()
        async throws
    {
        let lab = try DiagnosisLab()
        let server = try Self.service(lab) {
            [LabField("Date", Self.date), LabField("Age", "3600")]
        }
        defer { server.stop() }
        let backend = try Self.backend(lab, at: server)
        let told = Locked(0)
        let diagnosis = try await lab.diagnosed(
            { $0.trusted = [backend] },
            onEvent: { event in
                if case .timed = event { told.withLock { $0 += 1 } }
            })
        #expect(diagnosis.verdict == .clean)
        let times = diagnosis.evidence.times
        #expect(times.map(\.form) == [.dateField])
        #expect(times.first?.teller == backend.label)
        #expect(times.first?.isProven == true)
        #expect(
            times.first?.time.secondsSince1970 == Self.moment.secondsSince1970 + 3_600)
        #expect(told.withLock { $0 } == 1)
        let skew = try #require(times.first?.skewSeconds)
        let now = SystemWallClock().now().secondsSince1970
        #expect(abs(now - Self.moment.secondsSince1970 - 3_600 - skew) < 600)
    }

    @Test(arguments: [true, false])
    func `certificates out of date are the clock's fault only by a trusted source's date`(
        isTrusted: Bool
    ) async throws {
        let lab = try DiagnosisLab()
        let server = try Self.service(lab) { [LabField("Date", Self.date)] }
        defer { server.stop() }
        let backend = try Self.backend(lab, at: server)
        let diagnosis = try await lab.diagnosed {
            if isTrusted { $0.trusted.append(backend) } else { $0.resolvers = [backend] }
            // By the clock of this machine nothing of today is valid; the service says a day in between.
            $0.moment = WallTime(
                secondsSince1970: SystemWallClock().now().secondsSince1970 + 4 * 365 * 86_400)
        }
        #expect(diagnosis.evidence.times.map(\.isProven) == [isTrusted])
        #expect(diagnosis.evidence.peers.map { $0.real?.isProven } == [false])
        if isTrusted {
            #expect(diagnosis.verdict == .inconclusive(missing: [.rightClock]))
        } else {
            #expect(diagnosis.verdict == .originBroken)
        }
    }
}
