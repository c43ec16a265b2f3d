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

    private static func mayHaveLinks() async -> Bool {
        let words = ["-n", "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"]
        let tried = try? await run("unshare", words)
        return tried?.status == 0
    }

    @Test(.enabled("a network of its own needs rights that are not there") { await mayHaveLinks() })
    func `networks of the same addresses are told apart by their gateways`() async throws {
        let child = try ChildProcess("unshare", ["-n", TestChild.path, "watch"])
        #expect(try await offPool { child.readLine() } == "ready")
        let neighbour = "ip neigh replace 198.51.100.1 dev v0 nud permanent lladdr 02:00:00:00:00:"
        try await shell(
            child, "ip link add v0 type veth peer name v1", "ip link set v0 up",
            "ip link set v1 up", "ip addr add 198.51.100.5/24 dev v0", neighbour + "01",
            "ip route add default via 198.51.100.1 dev v0")
        let home = try #require(try await offPool { child.readLine() })
        #expect(home.contains("default IPv4 via 198.51.100.1"))
        #expect(home.contains(" marked "))
        #expect(!home.contains("02:00") && !home.contains(":01"))
        // Another gateway with the address of the first; something has to happen to a link beside.
        try await shell(child, neighbour + "02", "ip addr add 198.51.100.6/24 dev v0")
        let cafe = try #require(try await offPool { child.readLine() })
        #expect(cafe.contains("default IPv4 via 198.51.100.1"))
        #expect(cafe != home)
        try await shell(child, neighbour + "01", "ip addr add 198.51.100.7/24 dev v0")
        #expect(try await offPool { child.readLine() } == home)
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

    /// Commands of one burst.
    private func shell(_ child: ChildProcess, _ commands: String...) async throws {
        let text = commands.joined(separator: " && ")
        let result = try await run(
            "nsenter", ["-t", String(child.identifier), "-n", "sh", "-c", text])
        #expect(result.status == 0, "\(text): \(result.errorText)")
    }

    private func ip(_ child: ChildProcess, _ words: String...) async throws {
        let namespace = ["-t", String(child.identifier), "-n", "ip"]
        let result = try await run("nsenter", namespace + words)
        #expect(result.status == 0, "\(words): \(result.errorText)")
    }
}
