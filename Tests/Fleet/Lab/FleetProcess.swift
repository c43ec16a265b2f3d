import Glibc
import HTTPDNSPlatform
import TestSupport

/// One server of the tier, which can be killed, frozen and started again.
///
/// A shell stands between: it ends the server when this process goes, however it goes.
final class FleetProcess: Sendable {
    let name: String
    private let words: [String]
    private let log: String
    private let running = Locked<(shell: ChildProcess, server: pid_t)?>(nil)

    init(_ name: String, _ words: [String], log: String) {
        self.name = name
        self.words = words
        self.log = log
    }

    deinit { end() }

    /// Starts it; blocks until it has a number, not until it answers.
    func start() throws {
        let script =
            "exec 3>>\"$0\"; \"$@\" </dev/null >&3 2>&3 & echo $!; cat >/dev/null; "
            + "kill -KILL $! 2>/dev/null; wait $! 2>/dev/null"
        let shell = try ChildProcess(
            "bash", ["-c", script, log] + words,
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        guard let line = shell.readLine(), let server = pid_t(line) else {
            throw FleetFault(description: "\(name) does not start: \(shell.readErrors())")
        }
        running.withLock { $0 = (shell, server) }
    }

    /// As a power cut would: no goodbye, and the kernel answers for it.
    ///
    /// Returns when it is gone; blocks until then.
    func kill() throws {
        signal(SIGKILL)
        for _ in 0..<1_000 where isAlive { poll(nil, 0, 10) }
        guard !isAlive else { throw FleetFault(description: "\(name) cannot be killed") }
    }

    /// As a hung host or a cut cable would: no goodbye, and nobody answers.
    func freeze() { signal(SIGSTOP) }

    func thaw() { signal(SIGCONT) }

    /// Ends it and what stands between; once more is nothing.
    func end() {
        let shell = running.withLock { running in
            defer { running = nil }
            return running?.shell
        }
        shell?.closeInput()
        shell?.awaitEnd()
    }

    var isAlive: Bool {
        running.withLock { running in running.map { Glibc.kill($0.server, 0) == 0 } ?? false }
    }

    /// What it said last, for a message.
    var lastWords: String {
        let lines = ((try? contents(of: log)) ?? "").split(separator: "\n").suffix(4)
        return lines.joined(separator: " | ")
    }

    /// Computing time of all its threads so far. Source: Linux, Documentation/scheduler/sched-stats.rst,
    /// `/proc/<pid>/schedstat`.
    var nanosecondsComputed: Int64 {
        guard let server = running.withLock({ $0?.server }),
            let directory = opendir("/proc/\(server)/task")
        else { return 0 }
        defer { closedir(directory) }
        var nanoseconds: Int64 = 0
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let file = "/proc/\(server)/task/\(name)/schedstat"
            guard let text = try? contents(of: file), let first = text.split(separator: " ").first
            else { continue }
            nanoseconds += Int64(first) ?? 0
        }
        return nanoseconds
    }

    /// What it holds in memory. Source: proc(5), `VmRSS` of `status`.
    var residentOctets: Int64 {
        guard let server = running.withLock({ $0?.server }),
            let status = try? contents(of: "/proc/\(server)/status"),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return 0 }
        return (line.split(separator: " ").dropFirst().first.flatMap { Int64($0) } ?? 0) << 10
    }

    private func signal(_ number: Int32) {
        running.withLock { running in
            if let running { _ = Glibc.kill(running.server, number) }
        }
    }
}

/// Why the tier does not run.
package struct FleetFault: Error, CustomStringConvertible {
    package let description: String
}
