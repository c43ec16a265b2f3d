import HTTPDNS
import HTTPDNSDatagram
import HTTPDNSDiagnosis
import HTTPDNSEvidence
import HTTPDNSExchange
import HTTPDNSJSON
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// What came, as it came: of every kind of source, and only where it is asked for.
@Suite(.timeLimit(.minutes(3))) struct RawRunTests {
    private static let account = "139450"
    private static let secret = "0123456789abcdef0123456789abcdef"

    /// A service over TLS that speaks DoH and what vendors speak, and tells the truth.
    private static func service(_ lab: DiagnosisLab) throws -> LabHTTPDNSServer {
        var settings = LabServiceSettings(table: LabTable(lab.name, [DiagnosisLab.right]))
        var account = LabAccount(account, secret: secret)
        account.cipherKey = Secret(secret)
        settings.accounts = [account]
        let server = try LabHTTPDNSServer(
            security: .tls(try lab.authority.leaf([.address(LabAddress.ipv4)])), settings: settings)
        try server.start()
        return server
    }

    private static func backend(
        _ lab: DiagnosisLab, _ description: ResolverDescription
    ) throws -> any ResolverBackend {
        let trust = TrustPolicy(roots: .pem(lab.authority.certificatePEM))
        return try ResolverFactory(trust: trust, transport: Transport()).backend(
            for: description)
    }

    private static func provider(
        _ name: String, at server: LabHTTPDNSServer
    ) throws -> ResolverDescription {
        var description = try ResolverDescription(name)
        description.endpoint = try HTTPURL("https://\(LabAddress.ipv4):\(server.port)")
        description.account = account
        description.secret = Secret(secret)
        return description
    }

    /// What the only trusted source of a run sent about the address.
    private static func raw(
        _ lab: DiagnosisLab, _ description: ResolverDescription, keepsRaw: Bool = true
    ) async throws -> RawReply? {
        let backend = try backend(lab, description)
        let diagnosis = try await lab.diagnosed {
            $0.trusted = [backend]
            $0.keepsRaw = keepsRaw
        }
        #expect(diagnosis.verdict == .clean)
        let answer = diagnosis.evidence.answers.first {
            $0.source.standing == .trusted && $0.type == .a
        }
        #expect(answer?.statement?.addresses == [DiagnosisLab.right])
        return answer?.raw
    }

    private static func addresses(in raw: RawReply?) throws -> [RecordData] {
        try Message(decoding: try #require(raw).octets).answers.map(\.data)
    }

    @Test func `of DNS over HTTPS the message is kept`() async throws {
        let lab = try DiagnosisLab()
        let server = try Self.service(lab)
        defer { server.stop() }
        let raw = try await Self.raw(
            lab, try ResolverDescription("https://\(LabAddress.ipv4):\(server.port)/dns-query"))
        #expect(raw?.form == .dnsMessage)
        #expect(raw?.isCut == false)
        #expect(try Self.addresses(in: raw) == [.address(DiagnosisLab.right)])
    }

    @Test func `nothing is kept where nobody asks for it`() async throws {
        let lab = try DiagnosisLab()
        let server = try Self.service(lab)
        defer { server.stop() }
        let raw = try await Self.raw(
            lab, try ResolverDescription("https://\(LabAddress.ipv4):\(server.port)/dns-query"),
            keepsRaw: false)
        #expect(raw == nil)
    }

    @Test(arguments: [DoTOrDoH.dot, .doh])
    func `of a real server's TLS and HTTP 2 the message is kept, made-up names included`(
        form: DoTOrDoH
    ) async throws {
        let server = try await UnboundServer.shared()
        let trust = TrustPolicy(roots: .pem(server.authority.certificatePEM))
        var description = try ResolverDescription(form.text(server))
        description.bootstrap = [LabAddress.ipv4]
        let backend = try ResolverFactory(trust: trust, transport: Transport()).backend(
            for: description)
        let lab = try DiagnosisLab()
        var options = try lab.options
        options.trusted = [backend]
        options.nameservers = []
        options.keepsRaw = true
        let diagnosis = try await Diagnosis.run(try HostName("text.example.test"), options: options)
        let answers = diagnosis.evidence.answers + diagnosis.evidence.randomNames.map(\.answer)
        #expect(answers.count == 8)
        for answer in answers {
            let raw = try #require(answer.raw)
            #expect(raw.form == .dnsMessage)
            let message = try Message(decoding: raw.octets)
            #expect(message.questions.first?.name == WireName(answer.name))
            #expect(message.code == answer.statement?.code)
        }
    }

    /// Both that unbound speaks.
    enum DoTOrDoH: Sendable {
        case dot, doh

        func text(_ server: UnboundServer) -> String {
            switch self {
            case .dot: "tls://\(server.name):\(server.dot)"
            case .doh: "https://\(server.name):\(server.doh)/dns-query"
            }
        }
    }

    @Test func `of JSON the body is kept`() async throws {
        let lab = try DiagnosisLab()
        let server = try Self.service(lab)
        defer { server.stop() }
        let raw = try await Self.raw(
            lab, try ResolverDescription("json+https://\(LabAddress.ipv4):\(server.port)/resolve"))
        #expect(raw?.form == .body)
        let body = try JSONValue.parse(try #require(raw).octets)
        #expect(body["Status"]?.integer == 0)
        #expect("\(body)".contains("\(DiagnosisLab.right)"))
    }

    @Test func `of a signed HTTP-DNS answer the body is kept`() async throws {
        let lab = try DiagnosisLab()
        let server = try Self.service(lab)
        defer { server.stop() }
        let raw = try await Self.raw(lab, try Self.provider("aliyun", at: server))
        #expect(raw?.form == .body)
        let text = String(decoding: try #require(raw).octets, as: UTF8.self)
        #expect(text.contains("\(DiagnosisLab.right)"))
        // It was asked with a signature, of which nothing is told.
        let target = try #require(server.record.requests.first?.target)
        #expect(target.contains("s="))
        #expect(!text.contains(Self.account))
    }

    @Test func `what a service says back of a request is taken out`() async throws {
        let lab = try DiagnosisLab()
        let echo = try LabServer(
            security: .tls(try lab.authority.leaf([.address(LabAddress.ipv4)]))
        ) { request in
            .json(
                #"{"code":"InvalidSignature","message":"cannot serve \#(request.target)"}"#,
                status: 403)
        }
        try echo.start()
        defer { echo.stop() }
        var description = try ResolverDescription("aliyun")
        description.endpoint = try HTTPURL("https://\(LabAddress.ipv4):\(echo.port)")
        description.account = Self.account
        description.secret = Secret(Self.secret)
        let backend = try Self.backend(lab, description)
        let diagnosis = try await lab.diagnosed {
            $0.trusted = [backend]
            $0.keepsRaw = true
        }
        let answer = diagnosis.evidence.answers.first {
            $0.source.standing == .trusted && $0.type == .a
        }
        #expect(answer?.statement == nil)
        let raw = try #require(answer?.raw)
        let text = String(decoding: raw.octets, as: UTF8.self)
        #expect(text.contains("InvalidSignature"))
        #expect(text.contains(DiagnosisLab.host))
        #expect(text.contains("REDACTED"))
        let targets = echo.record.requests.map(\.target)
        #expect(!targets.isEmpty)
        for target in targets {
            #expect(target.contains(Self.account))
            let values = target.split(whereSeparator: { "/?&=".contains($0) }).filter {
                $0.utf8.count > 8 && !$0.contains(".") && $0.contains(where: \.isNumber)
            }
            #expect(!values.isEmpty)
            for value in values { #expect(!text.contains(value)) }
        }
        #expect(!text.contains(Self.account))
    }

    @Test func `of an encrypted answer the ciphertext is kept, and called so`() async throws {
        let lab = try DiagnosisLab()
        let server = try Self.service(lab)
        defer { server.stop() }
        var description = try Self.provider("aliyun-v2", at: server)
        description.key = Secret(Self.secret)
        let raw = try await Self.raw(lab, description)
        #expect(raw?.form == .encryptedBody)
        let text = String(decoding: try #require(raw).octets, as: UTF8.self)
        #expect(!text.contains("\(DiagnosisLab.right)"))
    }

    @Test func `of a race both messages are kept`() async throws {
        let lab = try DiagnosisLab()
        try lab.network.behave(.forges([DiagnosisLab.wrong], aheadMilliseconds: 50))
        let diagnosis = try await lab.diagnosed {
            $0.listening = .seconds(2)
            $0.keepsRaw = true
        }
        let race = try #require(diagnosis.evidence.races.first { $0.type == .a })
        let said = try race.raw.map { try Message(decoding: $0.octets).answers.map(\.data) }
        #expect(said == [[.address(DiagnosisLab.wrong)], [.address(DiagnosisLab.right)]])
    }

    @Test func `a reply is kept up to its bound, and says so`() {
        let long = RawReply(.body, [UInt8](repeating: 1, count: RawReply.maximumOctets + 1))
        #expect(long.octets.count == RawReply.maximumOctets)
        #expect(long.wholeOctets == RawReply.maximumOctets + 1)
        #expect(long.isCut)
        #expect(!RawReply(.body, [1]).isCut)
    }
}
