import TestSupport
import Testing

/// In a network namespace, where a test may give this machine addresses.
@Suite(.timeLimit(.minutes(2))) struct OwnAddressTests {
    private static func mayHaveNamespace() async -> Bool {
        let tried = try? await run("unshare", ["-n", "ip", "link", "set", "lo", "up"])
        return tried?.status == 0
    }

    @Test(
        .enabled("a network namespace needs rights that are not there") {
            await mayHaveNamespace()
        })
    func `all addresses of an interface are of this machine, not the first alone`() async throws {
        let script = """
            ip link set lo up
            ip addr add 192.0.2.1/24 dev lo
            ip addr add 192.0.2.2/24 dev lo
            ip route add local 198.51.100.0/24 dev lo
            exec "$0" own 192.0.2.1 192.0.2.2 192.0.2.3 127.9.9.9 198.51.100.7 203.0.113.1
            """
        let result = try await run("unshare", ["-n", "sh", "-ec", script, TestChild.path])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(
            result.outputText.split(separator: "\n") == [
                "192.0.2.1 1", "192.0.2.2 1", "192.0.2.3 0", "127.9.9.9 1", "198.51.100.7 1",
                "203.0.113.1 0",
            ])
    }
}
