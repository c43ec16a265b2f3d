import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

@testable import HTTPDNSForwardProxy

/// Addresses that say nothing, and clients that ask for many of them.
@Suite(.timeLimit(.minutes(5))) struct ProxyPeekTests {
    private let name: TestName = "bank.example.test"
    private let authority: TestAuthority
    private let directory: TemporaryDirectory
    private let silent: RawListener

    init() throws {
        authority = try TestAuthority("Peek Root")
        directory = try TemporaryDirectory()
        try directory.write("root.pem", authority.certificatePEM)
        silent = try RawListener(try IPAddress("127.0.0.2"))
    }

    private func lab(
        _ hosts: [String: [String]],
        _ adjust: (inout ForwardProxyConfiguration) -> Void = { _ in }
    ) throws -> ProxyLab {
        try ProxyLab(hosts, root: directory.path + "/root.pem", adjust)
    }

    private static let crowd = 200

    @Test func `a page that asks for hundreds of silent hosts and goes keeps nobody waiting`()
        async throws
    {
        let honest = try LabServer(
            address: LabAddress.ipv4, security: .tls(try authority.leaf([name]))
        ) { _ in .text("hello") }
        try honest.start()
        defer { honest.stop() }
        var hosts = ["bank.example.test": ["127.0.0.1"]]
        for number in 0..<ProxyPeekTests.crowd { hosts["h\(number).test"] = ["127.0.0.2"] }
        let lab = try lab(hosts)
        let (proxy, port) = (lab.proxy, silent.port)
        let clients = Locked(
            try await offPool {
                try (0..<ProxyPeekTests.crowd).map { number in
                    let client = try proxy.connected()
                    client.send("CONNECT h\(number).test:\(port) HTTP/1.1\r\nHost: x\r\n\r\n")
                    return client
                }
            })
        let isBusy = await eventually {
            proxy.desk.prover.peekCount == PeekQueue.maximumThreads
                && proxy.counts.requests == ProxyPeekTests.crowd
        }
        #expect(isBusy)
        clients.withLock { $0 = [] }
        // All of them would take many times four seconds and more.
        let isIdle = await eventually(withinMilliseconds: 15_000) { proxy.desk.prover.isIdle }
        #expect(isIdle)
        let result = try await lab.curl([
            "--insecure", "https://bank.example.test:\(honest.port)/",
        ])
        #expect(result.outputText == "hello", "\(result.errorText)")
    }

    @Test func `finding a route has an end`() async throws {
        let lab = try lab(["bank.example.test": ["127.0.0.2"]]) {
            $0.limits.routing = .milliseconds(50)
        }
        let (proxy, port) = (lab.proxy, silent.port)
        let text = try await offPool {
            let client = try proxy.connected()
            client.send("CONNECT bank.example.test:\(port) HTTP/1.1\r\nHost: x\r\n\r\n")
            return client.readText(until: "\r\n\r\n")
        }
        #expect(text.hasPrefix("HTTP/1.1 504 "))
        #expect(await lab.ended(1).map(\.reason) == ["timed_out"])
        let isIdle = await eventually { proxy.desk.prover.isIdle }
        #expect(isIdle)
    }

    @Test func `one request tries eight addresses and no more`() async throws {
        // None of them answers, and none needs a proof: each round is a connection that fails.
        let addresses = (1...20).map { "127.0.1.\($0)" }
        let closed = try closedPort(address: LabAddress.ipv4)
        let lab = try lab(["bank.example.test": addresses]) { $0.unprovenPorts = [closed] }
        let proxy = lab.proxy
        let text = try await offPool {
            let client = try proxy.connected()
            client.send("CONNECT bank.example.test:\(closed) HTTP/1.1\r\nHost: x\r\n\r\n")
            return client.readText(until: "\r\n\r\n")
        }
        #expect(text.hasPrefix("HTTP/1.1 502 "))
        let record = try #require(await lab.ended(1).first)
        #expect(record.attempts.count == 8)
    }
}
