import Glibc
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform

/// The servers that behave worse and worse. They run in a process of their own, so that what the other
/// one uses is the library's alone; see ``LaboratoryProcess`` for what the two say to each other.
final class Laboratory: Sendable {
    /// Plain servers, whose behaviour changes all the time.
    private let plain: [LabDNSServer]
    /// A plain server of its own for inner names; it behaves.
    private let inner: LabDNSServer
    /// DNS over HTTPS with faults, certificates among them; it never lies.
    private let faultyDoH: LabHTTPDNSServer
    /// An HTTP-DNS service in the clear, with faults, lies among them.
    private let service: LabHTTPDNSServer
    private let authority: TestAuthority

    static let dohName = "dns.example.test"

    /// - Parameter start: the moment that answers are stamped from.
    init(from start: Monotonic) throws {
        let clock = SystemMonotonicClock()
        plain = try (0..<4).map { _ in
            try LabDNSServer { question in
                if question.text.hasSuffix(SoakZone.innerSuffix) {
                    say("fault an inner name leaked: \(question.text)")
                }
                let tenths = clock.now().milliseconds(since: start) / 100
                return SoakZone.answer(question, stampedAt: tenths)
            }
        }
        inner = try LabDNSServer { question in
            let tenths = clock.now().milliseconds(since: start) / 100
            return SoakZone.answer(question, stampedAt: tenths)
        }
        authority = try TestAuthority("Soak Root")
        let settings = LabServiceSettings(table: SoakZone.table)
        faultyDoH = try LabHTTPDNSServer(
            names: [.dns(Laboratory.dohName)], authority: authority, settings: settings)
        service = try LabHTTPDNSServer(settings: settings)
        for server in plain + [inner] { try server.start() }
        try faultyDoH.start()
        try service.start()
    }

    /// Obeys the other process until it ends.
    func serve() {
        for server in plain { say("plain \(server.port.number)") }
        say("inner \(inner.port.number)")
        say("doh \(faultyDoH.port.number)")
        say("service \(service.port.number)")
        for line in authority.certificatePEM.split(separator: "\n") { say("root \(line)") }
        say("ready")
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch words.first {
            case "change":
                var numbers = SeededNumbers(seed: words.last.flatMap { UInt64($0) } ?? 0)
                change(&numbers)
            case "heal": heal()
            case "forget": forget()
            case "usage": say("usage \(Usage.now().words)")
            default: say("fault the laboratory does not understand: \(line)")
            }
        }
    }

    /// What was asked is not needed, and would fill the memory.
    private func forget() {
        for server in plain + [inner] { server.forget() }
        faultyDoH.forget()
        service.forget()
    }

    // MARK: Worse and worse

    /// One of the servers begins to behave in another way.
    private func change(_ numbers: inout SeededNumbers) {
        switch numbers.below(8) {
        case 0:
            faultyDoH.misbehave(
                Laboratory.secureFaults[numbers.below(Laboratory.secureFaults.count)])
        case 1:
            let faults = Laboratory.secureFaults + Laboratory.clearFaults
            service.misbehave(faults[numbers.below(faults.count)])
        default:
            let behaviours = Laboratory.behaviours
            behave(
                plain[numbers.below(plain.count)], behaviours[numbers.below(behaviours.count)])
        }
    }

    private func heal() {
        for server in plain { behave(server, .healthy) }
        faultyDoH.misbehave(.none)
        service.misbehave(.none)
    }

    private func behave(_ server: LabDNSServer, _ behaviour: LabDNSBehaviour) {
        do {
            try server.behave(behaviour)
            say("note behaviour \(behaviour.name)")
        } catch {
            // Another process has its port meanwhile: it stays dead until a later change.
            say("note behaviour refused")
        }
    }

    private static let behaviours: [LabDNSBehaviour] = [
        .healthy, .healthy, .healthy, .slow(milliseconds: 80), .slow(milliseconds: 700),
        .slow(milliseconds: 1_900), .dead, .dying, .lies(SoakZone.lies),
        .lies(SoakZone.impossible), .fails, .refuses, .truncates(servesTCP: true),
        .truncates(servesTCP: false), .mistakesNumber, .mistakesQuestion, .usesOtherPort,
        .forges(SoakZone.lies, aheadMilliseconds: 20), .duplicates,
    ]

    private static let secureFaults: [LabServiceFault] = [
        .none, .none, .status(500), .status(429), .delays(milliseconds: 300),
        .delays(milliseconds: 1_200), .neverAnswers, .truncates, .closesUnanswered,
        .resetsAfterHead, .captivePortal, .answersHuge(octets: 300_000), .redirects(to: "/other"),
        .certificate(.expired), .certificate(.wrongName), .certificate(.selfSigned), .gzips,
        .chunksWithTrailers, .trickles(pauseMilliseconds: 2),
    ]

    private static let clearFaults: [LabServiceFault] = [
        .lies(SoakZone.lies), .lies(SoakZone.impossible), .answersEmpty, .answersOtherJSON,
        .ttl(.huge), .ttl(.negative), .leavesOutStatus, .leavesOutData,
    ]
}

private let saying = Locked(())

/// Tells the other process a line.
private func say(_ line: String) {
    saying.withLock { _ in
        print(line)
        fflush(nil)
    }
}
