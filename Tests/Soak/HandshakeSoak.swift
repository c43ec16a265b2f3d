import Glibc
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import TestSupport

/// Shakes hands with servers that misbehave, thousands of times, and looks whether anything is left.
struct HandshakeSoak {
    /// How many handshakes, after the warm-up.
    let wanted: Int
    private let child: ChildProcess
    private let clients: HandshakeClients
    private var outcomes: [String: Int] = [:]
    private var faults: Set<String> = []

    static let usage = "usage: Soak --handshakes N"

    /// Runs to the end; true when nothing was amiss.
    static func run(_ wanted: Int) async throws -> Bool {
        var soak = try HandshakeSoak(wanted)
        return try await soak.run()
    }

    private init(_ wanted: Int) throws {
        self.wanted = wanted
        child = try ChildProcess(
            "/proc/self/exe", ["--handshake-laboratory"], environment: ["MALLOC_ARENA_MAX": "2"])
        var ports: [HandshakeCase: Port] = [:]
        var root = ""
        var pin = ""
        while let line = child.readLine(), line != "ready" {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch words.first {
            case "server":
                let parts = words[1].split(separator: " ").map(String.init)
                guard parts.count == 2, let kind = HandshakeCase(rawValue: parts[0]) else { break }
                ports[kind] = UInt16(parts[1]).flatMap { Port($0) }
            case "root": root += words[1] + "\n"
            case "pin": pin = words[1]
            default: throw NoLaboratory(reason: line)
            }
        }
        guard ports.count == HandshakeCase.served.count else {
            child.closeInput()
            throw NoLaboratory(reason: child.readErrors())
        }
        clients = try HandshakeClients(ports: ports, root: root, pin: pin)
    }

    private mutating func run() async throws -> Bool {
        // Caches fill, threads start.
        try await shake(until: HandshakeSoak.warmUp)
        let before = await drained()
        let begun = count().connections
        try await shake(until: begun + wanted)
        let after = await drained()
        let (connections, resumed) = count()
        judge(before, after, handshakes: connections - begun)
        if resumed > 0 { faults.insert("\(resumed) sessions were resumed under another policy") }
        child.closeInput()
        child.awaitEnd()
        say(before, after, connections, warmUp: begun)
        return faults.isEmpty
    }

    /// All cases in both ways at the same time, round after round, until the servers have seen so many.
    private mutating func shake(until wanted: Int) async throws {
        while count().connections < wanted {
            for _ in 0..<HandshakeSoak.roundsBetweenCounts { try await round() }
        }
    }

    private mutating func round() async throws {
        let clients = clients
        try await withThrowingTaskGroup(
            of: (HandshakeCase, HandshakeClients.Way, [String]).self
        ) { group in
            for kind in HandshakeCase.allCases {
                for way in HandshakeClients.Way.allCases {
                    group.addTask { (kind, way, try await clients.meet(kind, way)) }
                }
            }
            for try await (kind, way, labels) in group {
                for label in labels {
                    outcomes["\(kind.rawValue) by \(way): \(label)", default: 0] += 1
                    guard label != kind.end(by: way) else { continue }
                    faults.insert("\(kind.rawValue) by \(way) ended as \(label)")
                }
            }
        }
    }

    /// What is used once what ended is gone. Threads close sockets when they get to it: waits until
    /// nothing has changed for a while.
    private func drained() async -> Usage {
        clients.transport.leaveConnections()
        var last = Usage.now(isTrimmed: true)
        var calm = 0
        for _ in 0..<HandshakeSoak.mostLooks where calm < HandshakeSoak.calmLooks {
            await pause(milliseconds: 100)
            let now = Usage.now(isTrimmed: true)
            let isSame =
                now.descriptors == last.descriptors && now.heapOctets == last.heapOctets
            calm = isSame ? calm + 1 : 0
            last = now
        }
        return last
    }

    /// What the servers have seen.
    private func count() -> (connections: Int, resumed: Int) {
        guard child.send("count"), let line = child.readLine() else { return (0, 0) }
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
    }

    private mutating func judge(_ before: Usage, _ after: Usage, handshakes: Int) {
        if after.descriptors > before.descriptors {
            faults.insert(
                "descriptors grew from \(before.descriptors) to \(after.descriptors)")
        }
        let growth = after.heapOctets - before.heapOctets
        if growth > Int64(handshakes * HandshakeSoak.octetsEach + HandshakeSoak.octetsOfChance) {
            faults.insert("\(growth) octets more are allocated after \(handshakes) handshakes")
        }
        let resident = after.residentOctets - before.residentOctets
        // A sanitizer's allocator keeps what was freed, and counts nothing: it looks for leaks itself.
        if before.heapOctets > 0, resident > HandshakeSoak.residentOctets {
            faults.insert("resident memory grew by \(Usage.mebibytes(resident)) MiB")
        }
    }

    private func say(_ before: Usage, _ after: Usage, _ connections: Int, warmUp: Int) {
        print("handshakes: \(connections), of which \(warmUp) before the first count")
        for (outcome, count) in outcomes.sorted(by: { $0.key < $1.key }) {
            print("  \(outcome) \(count)")
        }
        for (when, usage) in [("before", before), ("after", after)] {
            print(
                "\(when): \(usage.descriptors) descriptors, \(usage.heapOctets) octets allocated, "
                    + "\(usage.mebibytes) MiB resident, \(usage.threads) threads")
        }
        if before.heapOctets == 0 { print("allocations are the sanitizer's to count") }
        print(faults.isEmpty ? "PASSED" : "FAILED")
        for fault in faults.sorted() { print("  \(fault)") }
    }

    /// Because: after so many every list that grows by doubling has its size.
    private static let warmUp = 1_000
    private static let roundsBetweenCounts = 5
    private static let calmLooks = 5
    private static let mostLooks = 100
    /// Because: the smallest block that malloc gives has 24 octets; a leak of one each would be more.
    private static let octetsEach = 8
    /// Because: what two looks at an idle process differ by; blocks wait in the threads' caches.
    private static let octetsOfChance = 131_072
    private static let residentOctets: Int64 = 4 << 20
}
