import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSVendor
import HTTPDNSWire
import TestSupport
import Testing

/// The forms that one lab service answers in.
enum ServiceForm: CaseIterable, CustomTestStringConvertible {
    case aliyun
    case aliyunSigned
    case dnspod
    case googleJSON
    case cloudflareJSON

    var testDescription: String { "\(self)" }

    func codec() throws -> any HTTPDNSCodec {
        switch self {
        case .aliyun: try AliyunCodec(account: "100000", secret: nil)
        case .aliyunSigned: try AliyunCodec(account: "100000", secret: Secret("lab-secret"))
        case .dnspod: try DNSPodCodec()
        case .googleJSON: JSONDoHCodec(path: "/resolve")
        case .cloudflareJSON: JSONDoHCodec(path: "/dns-query")
        }
    }
}

/// A lab service that tells the truth about `shop.example.test`, until told otherwise.
final class TruthfulService: Sendable {
    let server: LabHTTPDNSServer

    init(
        security: LabSecurity = .plain, shape: LabJSONShape = .google, allowsUnsigned: Bool = true
    ) throws {
        let table = LabTable(
            try HostName("shop.example.test"),
            [try IPAddress("192.0.2.1"), try IPAddress("2001:db8::1")], ttlSeconds: 30)
        server = try LabHTTPDNSServer(
            security: security, table: table,
            account: LabAccount("100000", secret: "lab-secret", allowsUnsigned: allowsUnsigned),
            shape: shape)
        try server.start()
    }

    deinit { server.stop() }

    func backend(
        _ codec: any HTTPDNSCodec, wallClock: any WallSource = SystemWallClock()
    ) throws -> HTTPDNSBackend {
        let origin = Origin(
            scheme: .http, host: .address(server.server.address), port: server.port)
        return try HTTPDNSBackend(
            label: "lab",
            codec: codec, service: HTTPService(origin: origin, bootstrap: [], verifier: nil),
            transport: sharedTransport, wallClock: wallClock)
    }
}

struct StoppedWall: WallSource {
    let time: WallTime

    func now() -> WallTime { time }
}

@Suite(.timeLimit(.minutes(2))) struct HTTPDNSBackendTests {
    private func ask(
        _ backend: HTTPDNSBackend, _ name: String = "shop.example.test", _ type: RecordType = .a,
        milliseconds: Int64 = 10_000
    ) async -> Result<Testimony, QueryFailure> {
        do throws(QueryFailure) {
            let host: HostName
            do { host = try HostName(name) } catch { throw .unexpected("\(error)") }
            return .success(
                try await backend.ask(
                    Question(name: host, type: type),
                    deadline: SystemMonotonicClock().now().adding(milliseconds: milliseconds)))
        } catch {
            return .failure(error)
        }
    }

    private func failure(_ result: Result<Testimony, QueryFailure>) -> QueryFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }

    @Test(arguments: ServiceForm.allCases)
    func `each form gives the addresses and their lifetime`(form: ServiceForm) async throws {
        let service = try TruthfulService()
        let backend = try service.backend(form.codec())
        for (type, text) in [(RecordType.a, "192.0.2.1"), (.aaaa, "2001:db8::1")] {
            let testimony = try await ask(backend, "shop.example.test", type).get()
            #expect(testimony.answers.map(\.data) == [.address(try IPAddress(text))])
            #expect(testimony.answers.map(\.ttlSeconds) == [30])
            #expect(testimony.source.server == "127.0.0.1:\(service.server.port)")
        }
    }

    @Test(arguments: [LabJSONShape.google, .aliDNS])
    func `each shape of JSON is read`(shape: LabJSONShape) async throws {
        let service = try TruthfulService(shape: shape)
        let backend = try service.backend(JSONDoHCodec(path: "/resolve"))
        #expect(try await ask(backend).get().answers.count == 1)
        let missing = try await ask(backend, "nope.example.test").get()
        #expect(missing.code == .noSuchName)
        #expect(missing.negativeTTLSeconds != nil)
    }

    @Test(arguments: ServiceForm.allCases)
    func `an empty list is no data`(form: ServiceForm) async throws {
        let service = try TruthfulService()
        service.server.misbehave(.answersEmpty)
        let testimony = try await ask(try service.backend(form.codec())).get()
        #expect(testimony.code == .noError)
        #expect(testimony.answers.isEmpty)
    }

    @Test(arguments: ServiceForm.allCases)
    func `a missing lifetime is the documented one`(form: ServiceForm) async throws {
        let service = try TruthfulService()
        service.server.misbehave(.leavesOutTTL)
        let testimony = try await ask(try service.backend(form.codec())).get()
        #expect(testimony.answers.map(\.ttlSeconds) == [60])
    }

    @Test(
        arguments: ServiceForm.allCases,
        [
            (LabServiceFault.captivePortal, "malformed"), (.answersOtherJSON, "malformed"),
            (.redirects(to: "http://127.0.0.1:1/"), "http_status"), (.status(503), "http_status"),
            (.status(429), "http_status"), (.answersHuge(octets: 2_000_000), "malformed"),
            (.truncates, "unreachable"), (.neverAnswers, "timed_out"),
        ])
    func `each fault of a service has its name`(
        form: ServiceForm, fault: (LabServiceFault, String)
    ) async throws {
        let service = try TruthfulService()
        service.server.misbehave(fault.0)
        let limit: Int64 = fault.0 == .neverAnswers ? 150 : 10_000
        let result = await ask(try service.backend(form.codec()), milliseconds: limit)
        #expect(failure(result)?.label == fault.1)
    }

    @Test func `a wrong secret and a wrong clock are told apart`() async throws {
        let service = try TruthfulService()
        let wrong = try service.backend(
            AliyunCodec(account: "100000", secret: Secret("other-secret")))
        #expect(failure(await ask(wrong)) == .rejected(code: "InvalidSignature"))
        let right = try ServiceForm.aliyunSigned.codec()
        let late = StoppedWall(time: WallTime(secondsSince1970: 1_000_000_000))
        let past = try service.backend(right, wallClock: late)
        #expect(failure(await ask(past)) == .rejected(code: "SignatureExpired"))
        let early = StoppedWall(time: WallTime(secondsSince1970: 9_000_000_000))
        let future = try service.backend(right, wallClock: early)
        #expect(failure(await ask(future)) == .rejected(code: "InvalidDuration"))
    }

    @Test func `an account's refusals are named`() async throws {
        let service = try TruthfulService(allowsUnsigned: false)
        let unsigned = try service.backend(ServiceForm.aliyun.codec())
        #expect(failure(await ask(unsigned)) == .rejected(code: "UnsignedInterfaceDisabled"))
        let other = try service.backend(AliyunCodec(account: "200000", secret: nil))
        #expect(failure(await ask(other)) == .rejected(code: "InvalidAccount"))
    }

    @Test func `a secret never goes out in clear text`() async throws {
        let service = try TruthfulService()
        let codec = try DNSPodCodec(token: Secret("token"))
        #expect {
            try service.backend(codec)
        } throws: { ($0 as? QueryFailure)?.label == "misconfigured" }
        #expect(service.server.record.requests.isEmpty)
    }

    @Test func `over TLS the service proves its name, whatever address it has`() async throws {
        let lab = try TrustedLab()
        let identity = try lab.root.leaf(["httpdns.example.test"], commonName: "Lab service")
        let service = try TruthfulService(security: .tls(identity))
        func backend(named name: String) throws -> HTTPDNSBackend {
            let origin = Origin(
                scheme: .https, host: .name(try HostName(name)), port: service.server.port)
            return try HTTPDNSBackend(
                label: name, codec: try DNSPodCodec(token: Secret("token")),
                service: HTTPService(
                    origin: origin, bootstrap: [service.server.server.address],
                    verifier: lab.verifier),
                transport: sharedTransport)
        }
        #expect(failure(await ask(try backend(named: "other.example.test")))?.label == "untrusted")
        #expect(service.server.record.requests.isEmpty)
        let testimony = try await ask(try backend(named: "httpdns.example.test")).get()
        #expect(testimony.answers.count == 1)
        #expect(service.server.record.serverNames.last == "httpdns.example.test")
        #expect(service.server.record.requests.first?.query["token"] == "token")
    }

    @Test func `a dead first server costs no more than the way to the second`() async throws {
        let service = try TruthfulService()
        let origin = Origin(
            scheme: .http, host: .name(try HostName("httpdns.example.test")),
            port: service.server.port)
        let backend = try HTTPDNSBackend(
            label: "lab", codec: ServiceForm.dnspod.codec(),
            service: HTTPService(
                origin: origin,
                bootstrap: [try IPAddress("127.0.0.99"), service.server.server.address],
                verifier: nil),
            transport: sharedTransport)
        let testimony = try await ask(backend, milliseconds: 5_000).get()
        #expect(testimony.source.server == "127.0.0.1:\(service.server.port)")
        let request = try #require(service.server.record.requests.first)
        #expect(request.host == "httpdns.example.test:\(service.server.port)")
    }
}
