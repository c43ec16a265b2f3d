import HTTPDNSDiagnosis
import HTTPDNSEvidence
import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

/// Runs whose name server has another port, or answers where it does no DNS; and names made up, by TCP.
@Suite(.timeLimit(.minutes(3))) struct PortRunTests {
    private static let truth: LabDNSServer.Zone = { question in
        guard let name = try? HostName(DiagnosisLab.host) else { return question.noSuchName() }
        return LabTable(name, [DiagnosisLab.right]).answer(question)
    }

    /// Another port of the lab's name server.
    private func port(_ zone: @escaping LabDNSServer.Zone = truth) throws -> LabDNSServer {
        let server = try LabDNSServer(zone: zone)
        try server.start()
        return server
    }

    private func liar() throws -> DiagnosisLab {
        try DiagnosisLab { question, truth in
            question.text == DiagnosisLab.host && question.type == .a
                ? question.answer([DiagnosisLab.wrong]) : truth
        }
    }

    // MARK: A second port

    @Test func `the truth on a second port shows that the first is answered for`() async throws {
        let lab = try liar()
        let other = try port()
        defer { other.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.otherPort = other.port
            $0.keepsRaw = true
        }
        #expect(diagnosis.how == .intercepted)
        #expect(diagnosis.judgement.evidenceFor.contains { $0.code == "ports_differ" })
        let source = try #require(
            diagnosis.evidence.sources.first { $0.alternateOf != nil })
        #expect(source.alternateOf?.port == lab.network.port)
        #expect(source.server?.port == other.port)
        let answer = try #require(
            diagnosis.evidence.answers.first { $0.source == source && $0.type == .a })
        #expect(answer.statement?.addresses == [DiagnosisLab.right])
        #expect(answer.raw?.octets.isEmpty == false)
        #expect(answer.seen.atMilliseconds >= answer.seen.tookMilliseconds)
        // The same names made up are put to it.
        #expect(diagnosis.evidence.randomNames.count { $0.answer.source == source } == 6)
    }

    @Test func `a second port that tells the same lie leaves it to the server`() async throws {
        let lab = try liar()
        let other = try port { question in
            question.text == DiagnosisLab.host && question.type == .a
                ? question.answer([DiagnosisLab.wrong]) : Self.truth(question)
        }
        defer { other.stop() }
        let diagnosis = try await lab.diagnosed { $0.otherPort = other.port }
        #expect(diagnosis.how == .rewritten)
    }

    @Test func `a second port where nobody is leaves an honest network clean`() async throws {
        let lab = try DiagnosisLab()
        let dead = try closedEndpoint()
        let diagnosis = try await lab.diagnosed { $0.otherPort = dead.port }
        #expect(diagnosis.verdict == .clean)
        #expect(diagnosis.judgement.confidence == .certain)
    }

    // MARK: Ports without DNS

    @Test func `an answer from a port without DNS is found, with its time and its octets`()
        async throws
    {
        let lab = try DiagnosisLab()
        let somebody = try port()
        defer { somebody.stop() }
        let told = Locked<[VacantPortEvidence]>([])
        let diagnosis = try await lab.diagnosed(
            {
                $0.vacantPort = somebody.port
                $0.vacantPatience = .seconds(60)
                $0.keepsRaw = true
            },
            onEvent: { event in
                if case .knocked(let vacant) = event { told.withLock { $0.append(vacant) } }
            })
        // It tells the truth, and the network proves the name: a server may do DNS on every port.
        #expect(diagnosis.verdict == .clean)
        #expect(diagnosis.judgement.notes.contains { $0.code == "vacant_port_answers" })
        #expect(diagnosis.evidence.vacantPorts == told.withLock { $0 })
        let vacant = try #require(diagnosis.evidence.vacantPorts.first)
        #expect(vacant.place.port == somebody.port)
        #expect(vacant.server.port == lab.network.port)
        #expect(vacant.statement?.addresses == [DiagnosisLab.right])
        #expect(vacant.raw?.octets.isEmpty == false)
        #expect(somebody.queries.map(\.question.text) == [DiagnosisLab.host])
    }

    @Test func `a port without DNS is drawn where no service is, and its silence is no evidence`()
        async throws
    {
        let lab = try DiagnosisLab()
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.verdict == .clean)
        let vacant = try #require(diagnosis.evidence.vacantPorts.first)
        #expect(diagnosis.evidence.vacantPorts.count == 1)
        #expect(vacant.place.port.number >= 61_000)
        #expect(vacant.statement == nil)
    }

    @Test func `a silent port without DNS is waited for no longer than is said`() async throws {
        let lab = try DiagnosisLab()
        let mute = try port { _ in .drop }
        defer { mute.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.vacantPort = mute.port
            $0.vacantPatience = .milliseconds(50)
            $0.patience = .seconds(3_600)
        }
        #expect(diagnosis.verdict == .clean)
        #expect(diagnosis.evidence.vacantPorts.map(\.statement) == [nil])
        #expect(diagnosis.evidence.tookMilliseconds < 3_600_000 / 10)
    }

    @Test func `no port without DNS is asked where nobody wants it`() async throws {
        let lab = try DiagnosisLab()
        let diagnosis = try await lab.diagnosed { $0.asksVacantPorts = false }
        #expect(diagnosis.evidence.vacantPorts.isEmpty)
        #expect(diagnosis.evidence.skipped.contains { $0.contains("ports that do no DNS") })
    }

    // MARK: Names made up, by TCP

    @Test(arguments: [true, false])
    func `names made up that UDP alone knows are not the server's`(isUDPAlone: Bool) async throws {
        let lab = try DiagnosisLab { question, truth in
            truth.code == .noSuchName && !(question.isTCP && isUDPAlone)
                ? question.answer([DiagnosisLab.wrong]) : truth
        }
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.how == (isUDPAlone ? .intercepted : .rewritten))
        let probes = diagnosis.evidence.randomNames.filter { $0.answer.source.transport == .tcp }
        #expect(probes.count == 6)
        #expect(probes.allSatisfy { $0.answer.statement?.isPositive == !isUDPAlone })
        let tcp = diagnosis.judgement.sources.first { $0.source.transport == .tcp }
        #expect(tcp?.standing == (isUDPAlone ? .honest : .lies(.rewritten)))
    }

    // MARK: The tool

    @Test func `the tool is told of both ports, and shows what came of them`() async throws {
        let lab = try liar()
        let (other, somebody) = (try port(), try port())
        defer { for server in [other, somebody] { server.stop() } }
        let directory = try TemporaryDirectory()
        let root = try directory.write("root.pem", lab.authority.certificatePEM)
        let words = [
            "diagnose", DiagnosisLab.host, "--nameserver", lab.network.endpoint, "--no-system",
            "--hosts", "none", "--trusted", lab.trusted.endpoint, "--cacert", root, "--tls-port",
            "\(lab.origin.port)", "--connect-only", "--stay-on-loopback", "--timeout", "120s",
            "--other-port", "\(other.port)", "--vacant-port", "\(somebody.port)", "--verbose",
        ]
        let text = try await run(
            DiagnoseToolTests.tool, words, environment: DiagnoseToolTests.environment)
        #expect(text.status == 1)
        #expect(text.outputText.contains("is answered for by somebody on the path"))
        for shown in [text.outputText, text.errorText] {
            #expect(shown.contains("127.0.0.1:\(somebody.port), a port where that name server"))
        }
        let json = try await run(
            DiagnoseToolTests.tool, words + ["--json"], environment: DiagnoseToolTests.environment)
        let object = try JSONValue.parse(json.outputText)
        #expect(object["how"]?.string == "intercepted")
        let sources = object["sources"]?.array ?? []
        let alternates = sources.filter { $0["alternateOf"]?.string == lab.network.endpoint }
        #expect(alternates.map { $0["judged"]?.string } == ["honest"])
        let vacant = try #require(object["evidence"]?["vacantPorts"]?.array?.first)
        #expect(vacant["place"]?.string == "127.0.0.1:\(somebody.port)")
        #expect(vacant["answer"]?["addresses"]?.array?.isEmpty == false)
    }
}
