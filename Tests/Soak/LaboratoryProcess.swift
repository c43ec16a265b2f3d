import HTTPDNSNames
import HTTPDNSPlatform
import TestSupport

/// The ``Laboratory``, which this program runs as a second process of itself.
///
/// It says its ports and its root as lines, then `ready`; afterwards what it noted (`note`), what must
/// not be (`fault`) and, when it is asked, what it uses (`usage`). It obeys `change` with a number that
/// the change is drawn from, `heal`, `forget` and `usage`, and ends with its input.
final class LaboratoryProcess: Sendable {
    struct Ports: Sendable {
        var plain: [Port] = []
        var inner: Port
        var doh: Port
        var service: Port
    }

    let ports: Ports
    /// The PEM of who signed the DoH server's certificates.
    let root: String

    private let child: ChildProcess
    private let ledger: Ledger
    private let lastUsage = Locked<Usage?>(nil)
    private let isOver = Locked(false)

    init(ledger: Ledger, from start: Monotonic) throws {
        self.ledger = ledger
        // Its servers have a thread for each connection; an arena of the allocator for each of them
        // would be what its memory shows.
        child = try ChildProcess(
            "/proc/self/exe", ["--laboratory", "\(start.nanoseconds)"],
            environment: ["MALLOC_ARENA_MAX": "2"])
        var said: [String: [String]] = [:]
        while let line = child.readLine(), line != "ready" {
            let (word, rest) = LaboratoryProcess.parts(line)
            said[word, default: []].append(rest)
        }
        func ports(_ word: String) -> [Port] {
            (said[word] ?? []).compactMap { UInt16($0).flatMap { Port($0) } }
        }
        guard let inner = ports("inner").first, let doh = ports("doh").first,
            let service = ports("service").first
        else {
            child.closeInput()
            throw NoLaboratory(reason: child.readErrors())
        }
        self.ports = Ports(plain: ports("plain"), inner: inner, doh: doh, service: service)
        root = (said["root"] ?? []).joined(separator: "\n") + "\n"
        DetachedThread.start(named: "soak-lab") { self.listen() }
    }

    /// One of the servers begins to behave in another way.
    func change(_ number: UInt64) { send("change \(number)") }

    /// All servers behave from now on.
    func heal() { send("heal") }

    /// What was asked is not needed, and would fill its memory.
    func forget() { send("forget") }

    /// What it used when it was asked last; asks again.
    func usage() -> Usage? {
        send("usage")
        return lastUsage.withLock { $0 }
    }

    func stop() {
        isOver.withLock { $0 = true }
        child.closeInput()
        child.awaitEnd()
    }

    private func send(_ line: String) {
        if !child.send(line) { ledger.fault("the laboratory did not take \(line)") }
    }

    /// The life of a thread of its own.
    private func listen() {
        while let line = child.readLine() {
            let (word, rest) = LaboratoryProcess.parts(line)
            switch word {
            case "note": ledger.note(rest)
            case "fault": ledger.fault(rest)
            case "usage": lastUsage.withLock { $0 = Usage(words: rest) }
            default: ledger.fault("the laboratory said \(line)")
            }
        }
        guard !isOver.withLock({ $0 }) else { return }
        ledger.fault("the laboratory ended: \(child.readErrors())")
    }

    private static func parts(_ line: String) -> (word: String, rest: String) {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }
}

/// The second process did not start.
struct NoLaboratory: Error {
    let reason: String
}
