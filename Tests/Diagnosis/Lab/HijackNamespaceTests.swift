import Glibc
import HTTPDNSJSON
import TestSupport
import Testing

/// What loopback cannot show, in a network that has nothing else: where the tests run as root, and the
/// programs for it are there.
@Suite(.timeLimit(.minutes(3))) struct HijackNamespaceTests {
    /// Tried, not guessed: a container may forbid it to root, too.
    private static func isPossible() async throws -> Bool {
        let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        let isThere = { (program: String) in
            folders.contains { access($0 + "/" + program, X_OK) == 0 }
        }
        guard geteuid() == 0, ["unshare", "ip", "unbound"].allSatisfy(isThere) else { return false }
        return try await run("unshare", ["-n", "ip", "link", "set", "lo", "up"]).status == 0
    }

    private static let tool: String = {
        var octets = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &octets, octets.count)
        let own = String(decoding: octets.prefix(max(count, 0)).map(UInt8.init), as: UTF8.self)
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }()

    /// Runs a script in a network of its own.
    private func alone(_ script: String, _ arguments: [String] = []) async throws -> CommandResult {
        try await run(
            "unshare", ["-n", "sh", "-c", script, "sh", Self.tool] + arguments,
            environment: ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"])
    }

    @Test(.enabled { try await HijackNamespaceTests.isPossible() })
    func `Without any network, the verdict is that there is none`() async throws {
        let script =
            "ip link set lo up && \"$1\" lab hijack run --json --timeout 30s --only offline"
        let result = try await alone(script)
        let line = try JSONValue.parse(result.outputText)
        #expect(line["verdict"]?["verdict"]?.string == "offline", "\(result.outputText)")
        #expect(result.status == 0)
    }

    /// Every address of 192.0.2.0/24 is this machine's, and one server answers at all of them: as on a
    /// network whose router answers port 53 itself, whomever a query was for.
    private static let interception = """
        set -e
        tool=$1 folder=$2
        ip link set lo up
        ip route add local 192.0.2.0/24 dev lo
        "$tool" lab hijack serve plain-poisoning --json --dir "$folder" > "$folder/served" &
        lab=$!
        trap 'kill $lab $dns 2>/dev/null; wait' EXIT
        n=0; until [ -s "$folder/served" ]; do n=$((n+1)); [ $n -lt 300 ]; sleep 0.1; done
        first() { sed -n "s/.*\\"$1\\":\\[*\\"\\([^\\"]*\\)\\".*/\\1/p" "$folder/served"; }
        host=$(first host) url=$(first url) told=$(first told) trusted=$(first trusted)
        place=${url#https://} place=${place%/}
        cat > "$folder/unbound.conf" <<END
        server:
          interface: 0.0.0.0
          interface-automatic: yes
          port: 53
          do-ip6: no
          do-tcp: no
          do-daemonize: no
          username: ""
          chroot: ""
          directory: "$folder"
          pidfile: ""
          use-syslog: no
          access-control: 0.0.0.0/0 allow
          local-zone: "test." static
          local-data: "$host. 60 A $told"
        END
        unbound -d -c "$folder/unbound.conf" 2> "$folder/unbound.log" &
        dns=$!
        n=0
        until "$tool" lookup "$host" A @192.0.2.1 --short >/dev/null 2>&1; do
          n=$((n+1)); [ $n -lt 100 ]; sleep 0.1
        done
        "$tool" fetch "$url" --resolver 192.0.2.1 --cacert "$folder/ca.pem" 2>/dev/null \\
          && exit 40 || test $? = 1
        "$tool" fetch "$url" --resolver "$trusted" --cacert "$folder/ca.pem"
        "$tool" diagnose "$place" --nameserver 192.0.2.1 --dark-address 192.0.2.53 \\
          --trusted "$trusted" --cacert "$folder/ca.pem" --no-system --hosts none \\
          --connect-only --timeout 20s --json || test $? = 1
        """

    @Test(.enabled { try await HijackNamespaceTests.isPossible() })
    func `Who answers port 53 for every address is found out, and believed by nobody`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let result = try await alone(Self.interception, [directory.path])
        #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
        let lines = result.outputText.split(separator: "\n").map { String($0) }
        try #require(lines.count == 2, "\(result.outputText)\(result.errorText)")
        #expect(lines[0].hasPrefix("genuine-"))
        let verdict = try JSONValue.parse(lines[1])
        #expect(lines[1].contains("intercepted"), "\(verdict)")
        #expect(lines[1].contains("dark_address_answers"))
    }
}
