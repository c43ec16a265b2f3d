import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchResolverTests {
    let origin: FetchOrigin

    init() throws { origin = try FetchOrigin(address: LabAddress.ipv4(host: 9)) }

    private func fetch(_ arguments: [String]) async throws -> CommandResult {
        try await run(
            Tool.path,
            ["fetch", origin.url(), "--cacert", origin.rootFile, "--json"] + arguments)
    }

    /// A service that knows the origin's address, under the origin's own root.
    private func service() throws -> LabHTTPDNSServer {
        let identity = try origin.authority.leaf([.address(LabAddress.ipv4), "dns.example.test"])
        let table = LabTable(try HostName("shop.example.test"), [origin.address], ttlSeconds: 30)
        let service = try LabHTTPDNSServer(security: .tls(identity), table: table)
        try service.start()
        return service
    }

    @Test func `An HTTP-DNS service gives the address, the origin its proof`() async throws {
        let service = try service()
        defer { service.stop() }
        let result = try await fetch([
            "--resolver", "aliyun", "--account", "100000", "--endpoint",
            "https://127.0.0.1:\(service.port)",
        ])
        let object = try result.object
        #expect(result.status == 0, "\(result.errorText)")
        #expect(object["remoteAddress"]?.string == "127.0.0.9")
        #expect(object["ttl"] == 30)
        #expect(object["resolver"]?.string?.contains("aliyun") == true)
        #expect(object["verified"]?["name"]?.string == "shop.example.test")
        #expect(service.record.requests.first?.path == "/100000/d")
    }

    @Test func `DoH gives the address`() async throws {
        let service = try service()
        defer { service.stop() }
        let result = try await fetch([
            "--resolver", "@https://dns.example.test:\(service.port)/dns-query", "--bootstrap",
            "127.0.0.1",
        ])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try result.object["remoteAddress"]?.string == "127.0.0.9")
    }

    @Test func `Which step of the chain answered is told, and why the first did not`() async throws
    {
        let service = try service()
        defer { service.stop() }
        let dead = try closedPort(address: LabAddress.ipv4)
        let chain = [
            "--resolver", "tcp://127.0.0.1:\(dead)", "--resolver",
            "https://127.0.0.1:\(service.port)/dns-query",
        ]
        let result = try await fetch(chain + ["--verbose"])
        #expect(result.status == 0, "\(result.errorText)")
        let object = try result.object
        #expect(object["step"] == 2)
        #expect(object["fallback"]?.string == "unreachable")
        #expect(
            object["resolverAttempts"]?.array?.first?["resolver"]?.string
                == "tcp://127.0.0.1:\(dead)")
        #expect(result.errorText.contains("source 2 of the chain answered"))
        let first = try await fetch(Array(chain.suffix(2)))
        #expect(try first.object["step"] == 1)
        #expect(try first.object["fallback"] == .null)
        #expect(try first.object["resolverAttempts"]?.array == [])
    }

    private static let pin = ["--pin", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]

    @Test func `A pinned host is not looked up by the system, which others are`() async throws {
        let dead = try closedPort(address: LabAddress.ipv4)
        let chain = ["--resolver", "tcp://127.0.0.1:\(dead)", "--resolver", "system"]
        let result = try await fetch(chain + FetchResolverTests.pin)
        #expect(result.status == 9)
        let message = try result.object["error"]?["message"]?.string ?? ""
        #expect(message.contains("system: not asked: the host is pinned"), "\(message)")
    }

    @Test func `The system as the whole chain is somebody's choice, kept to and said`() async throws
    {
        // `localhost` is never asked for: nobody but this machine hears of this.
        let result = try await run(
            Tool.path,
            [
                "fetch", "https://localhost:\(try closedPort(address: LabAddress.ipv4))/", "--json",
                "--resolver", "system",
            ] + FetchResolverTests.pin)
        #expect(result.errorText.contains("system is all of the chain"))
    }

    @Test func `A pinned host is not asked over http`() async throws {
        let plain = try LabServer { _ in .text("hello") }
        try plain.start()
        defer { plain.stop() }
        let fetch = { (arguments: [String]) in
            try await run(
                Tool.path,
                [
                    "fetch", plain.url(host: "shop.example.test"), "--json", "--resolve",
                    "shop.example.test:127.0.0.1",
                ] + arguments)
        }
        let result = try await fetch(FetchResolverTests.pin)
        #expect(result.status == 2)
        #expect(try result.object["error"]?["code"]?.string == "pinned_over_http")
        #expect(plain.record.connections == 0)
        let other = try await fetch(["--pin", "other.test=" + FetchResolverTests.pin[1]])
        #expect(other.status == 0, "\(other.errorText)")
    }

    @Test func `A redirect does not lead a pinned host to http, whatever was allowed`() async throws
    {
        let plain = try LabServer { _ in .text("hello") }
        try plain.start()
        defer { plain.stop() }
        let target = plain.url(host: "pinned.example.test")
        let sending = try LabServer(security: .tls(origin.identity)) { _ in .redirect(to: target) }
        try sending.start()
        defer { sending.stop() }
        let result = try await run(
            Tool.path,
            [
                "fetch", sending.url(host: "shop.example.test"), "--json", "--cacert",
                origin.rootFile, "--follow-to-http", "--resolve", "shop.example.test:127.0.0.1",
                "--resolve", "pinned.example.test:127.0.0.1", "--pin",
                "pinned.example.test=" + FetchResolverTests.pin[1],
            ])
        #expect(result.status == 1)
        #expect(try result.object["error"]?["code"]?.string == "pinned_over_http")
        #expect(plain.record.connections == 0)
    }

    @Test func `A lying resolver leads to a refusal`() async throws {
        let hijacker = try Hijacker(port: origin.port)
        try hijacker.start()
        defer { hijacker.stop() }
        let result = try await fetch(["--resolver", hijacker.dns.endpoint])
        #expect(result.status == 1)
        #expect(
            try result.object["error"]?["message"]?.string?.contains("hijacker.invalid") == true)
        #expect(try result.object["addresses"] == ["127.0.0.66"])
        #expect(hijacker.server.record.receivedOctets == 0)
    }

    @Test func `A redirect is resolved again`() async throws {
        let other = try FetchOrigin()
        let answers = LabTable([
            try HostName("shop.example.test"): .init([other.address])
        ])
        let redirecting = try LabServer { _ in .redirect(to: other.url("/landed")) }
        try redirecting.start()
        defer { redirecting.stop() }
        let dns = try LabDNSServer { question in
            question.text == "start.example.test"
                ? question.answer([LabAddress.ipv4]) : answers.answer(question)
        }
        try dns.start()
        defer { dns.stop() }
        let result = try await httpdns(
            "fetch", redirecting.url(host: "start.example.test"), "--cacert", other.rootFile,
            "--resolver", dns.endpoint, "--json")
        let object = try result.object
        #expect(result.status == 0, "\(result.errorText)")
        #expect(object["finalURL"]?.string == other.url("/landed"))
        #expect(object["verified"]?["name"]?.string == "shop.example.test")
        #expect(dns.queries.contains { $0.question.text == "shop.example.test" })
    }

    @Test(arguments: [
        (LabAnswer.Kind.missing, "no_such_name", 1), (.empty, "no_data", 1),
        (.failing, "server_failure", 3), (.silent, "timed_out", 9),
    ])
    func `A host without addresses ends with the resolver's word`(
        kind: LabAnswer.Kind, label: String, code: Int32
    ) async throws {
        let dns = try LabDNSServer { kind.answer($0) }
        try dns.start()
        defer { dns.stop() }
        let result = try await fetch(["--resolver", dns.endpoint, "--timeout", "1s"])
        #expect(result.status == code, "\(result.outputText)")
        #expect(try result.object["error"]?["code"]?.string == label)
        #expect(origin.server.record.connections == 0)
    }
}

extension LabAnswer {
    enum Kind: Sendable {
        case missing, empty, failing, silent

        func answer(_ question: LabQuestion) -> LabAnswer {
            switch self {
            case .missing: question.noSuchName()
            case .empty: question.answer([])
            case .failing: .serverFailure
            case .silent: .drop
            }
        }
    }
}
