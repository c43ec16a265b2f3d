import HTTPDNSNames
import HTTPDNSPlatform
import TestSupport
import Testing

/// In a network namespace, where a test may change the network; nothing else notices.
@Suite struct NetworkMonitorTests {
    private static func mayHaveNamespace() async -> Bool {
        let tried = try? await run("unshare", ["-n", "ip", "link", "set", "lo", "up"])
        return tried?.status == 0
    }

    @Test(
        .enabled("a network namespace needs rights that are not there") {
            await mayHaveNamespace()
        })
    func `an address that comes or goes is told, once, and loopback is not`() async throws {
        let child = try ChildProcess("unshare", ["-n", TestChild.path, "watch"])
        #expect(try await offPool { child.readLine() } == "ready")
        // Neither the loopback link nor another address of the same prefix is another network.
        try await ip(child, "link", "set", "lo", "up")
        try await ip(child, "addr", "add", "192.0.2.5/24", "dev", "lo")
        #expect(try await offPool { child.readLine() } == "[address in 192.0.2.0/24]")
        try await ip(child, "addr", "add", "192.0.2.6/24", "dev", "lo")
        try await ip(child, "route", "add", "default", "dev", "lo")
        #expect(
            try await offPool { child.readLine() }
                == "[default IPv4 via link on 1; address in 192.0.2.0/24]")
        try await ip(child, "addr", "flush", "dev", "lo")
        let last = try await offPool { child.readLine() }
        #expect(last?.contains("192.0.2") == false)
        child.closeInput()
        #expect(try await offPool { child.awaitEnd() } == 0)
    }

    @Test func `the network of this machine can be read`() throws {
        let facts = try #require(NetworkMonitor.facts())
        #expect(facts.prefixes.allSatisfy { !$0.address.isLoopback })
        #expect(NetworkMonitor.facts()?.prefixes == facts.prefixes)
    }

    @Test func `a monitor may be stopped before and after it was started, and twice`() {
        let monitor = NetworkMonitor {
            []
        } onChange: { _ in
        }
        #expect(monitor.start())
        #expect(!monitor.start())
        monitor.stop()
        monitor.stop()
        #expect(!monitor.start())
        let other = NetworkMonitor {
            []
        } onChange: { _ in
        }
        other.stop()
        #expect(!other.start())
    }

    private func ip(_ child: ChildProcess, _ words: String...) async throws {
        let namespace = ["-t", String(child.identifier), "-n", "ip"]
        let result = try await run("nsenter", namespace + words)
        #expect(result.status == 0, "\(words): \(result.errorText)")
    }
}
