import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSVendor
import HTTPDNSWire
import Testing

/// A service whose every response a test writes.
final class WrittenService: Sendable {
    let server: ScriptedServer

    /// - Parameter answer: from the target of a request to status line and fields, and body; nil
    ///   never answers.
    init(_ answer: @escaping @Sendable (String) -> (String, String)?) throws {
        server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                let target = String(head.split(separator: " ").dropFirst().first ?? "")
                guard let (start, body) = answer(target) else {
                    connection.waitForEnd()
                    return
                }
                let fields = "\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                connection.send("HTTP/1.1 " + start + fields + body)
            }
        }
    }

    /// The targets asked for so far.
    var targets: [String] {
        server.heads.map { String($0.split(separator: " ").dropFirst().first ?? "") }
    }

    static let json = "200 OK\r\nContent-Type: application/json"

    /// Answers as Aliyun does, for any host.
    static func aliyun(_ address: String = "192.0.2.1") throws -> WrittenService {
        try WrittenService { target in (json, aliyunBody(target, address)) }
    }

    static func aliyunBody(_ target: String, _ address: String) -> String {
        let hosts = target.split(separator: "host=").last?.split(separator: "&").first ?? ""
        let entries = hosts.split(separator: ",").map {
            #"{"host":"\#($0)","ips":["\#(address)"],"ipsv6":["2001:db8::1"],"ttl":30}"#
        }
        return entries.count == 1 ? entries[0] : #"{"dns":[\#(entries.joined(separator: ","))]}"#
    }
}

/// Alarms that ring when a test says so.
final class HeldAlarms: AlarmSource {
    private struct State {
        var lastNumber: UInt64 = 0
        var waiting: [UInt64: (Monotonic, @Sendable () -> Void)] = [:]
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.waiting.count } }

    func schedule(at moment: Monotonic, _ ring: @escaping @Sendable () -> Void) -> AlarmID {
        state.withLock { state in
            state.lastNumber += 1
            state.waiting[state.lastNumber] = (moment, ring)
            return AlarmID(number: state.lastNumber)
        }
    }

    func cancel(_ id: AlarmID) { state.withLock { $0.waiting[id.number] = nil } }

    /// Rings what is due by then.
    func ring(by moment: Monotonic) {
        let due = state.withLock { state in
            let due = state.waiting.filter { $0.value.0 <= moment }
            for number in due.keys { state.waiting[number] = nil }
            return due.values.map(\.1)
        }
        for ring in due { ring() }
    }
}

/// Two clocks that a test moves, and alarms that follow them.
final class MovedClock: MonotonicSource, WallSource, AlarmSource {
    private let seconds = Locked<Int64>(0)
    private let stoppedAt: Monotonic?

    /// - Parameter isStopped: moves when told, and by itself not at all.
    init(isStopped: Bool = false) {
        stoppedAt = isStopped ? SystemMonotonicClock().now() : nil
    }

    func advance(seconds more: Int64) { seconds.withLock { $0 += more } }

    func schedule(at moment: Monotonic, _ ring: @escaping @Sendable () -> Void) -> AlarmID {
        let ahead = seconds.withLock { $0 }
        return AlarmThread.shared.schedule(at: moment.adding(seconds: -ahead), ring)
    }

    func cancel(_ id: AlarmID) { AlarmThread.shared.cancel(id) }

    func now() -> Monotonic {
        (stoppedAt ?? SystemMonotonicClock().now()).adding(seconds: seconds.withLock { $0 })
    }
    func now() -> WallTime {
        seconds.withLock { WallTime(secondsSince1970: 1_750_000_000 + $0) }
    }
}

/// A store that says when it writes.
final class EagerStore: ServiceCursorStore {
    let servers: [Endpoint]
    private let state = Locked((saved: [Int](), during: (@Sendable () -> Void)?.none))

    init(_ servers: [Endpoint]) { self.servers = servers }

    /// The cursors written, in order.
    var saved: [Int] { state.withLock { $0.saved } }

    /// Happens once, in the middle of the next write.
    func whileSaving(_ during: @escaping @Sendable () -> Void) {
        state.withLock { $0.during = during }
    }

    func load() throws(StoreFault) -> ServiceSchedule.Stored? {
        ServiceSchedule.Stored(
            servers: servers, cursor: 0, fetchedAt: SystemWallClock().now())
    }

    func save(_ stored: ServiceSchedule.Stored) throws(StoreFault) {
        let during = state.withLock { state in
            defer { state.during = nil }
            return state.during
        }
        during?()
        state.withLock { $0.saved.append(stored.cursor) }
    }
}

/// Servers as a service has them, and who was blamed.
final class WatchedServers: ServerDirectory {
    private struct State {
        var rotation: ServerRotation
        var blamed: [Endpoint] = []
        var plans = 0
        var isResting = false
    }

    private let state: Locked<State>

    init(_ servers: [Endpoint]) { state = Locked(State(rotation: ServerRotation(servers))) }

    var blamed: [Endpoint] { state.withLock { $0.blamed } }
    var plans: Int { state.withLock { $0.plans } }
    var isLocal: Bool { true }

    func rest(_ isResting: Bool) { state.withLock { $0.isResting = isResting } }

    func plan() throws(QueryFailure) -> ServerRotation {
        let (rotation, isResting) = state.withLock { state in
            state.plans += 1
            return (state.rotation, state.isResting)
        }
        guard !isResting else { throw .resting(milliseconds: 1) }
        return rotation
    }

    func failed(_ server: Endpoint) { state.withLock { $0.blamed.append(server) } }

    func answered(_ server: Endpoint) { state.withLock { $0.rotation.answered(server) } }

    func networkChanged() {}
}

enum VendorLab {
    static func backend(
        _ codec: any HTTPDNSCodec, _ servers: [ScriptedServer],
        _ change: (inout HTTPDNSBackend.Settings) -> Void = { _ in }
    ) throws -> HTTPDNSBackend {
        let first = try #require(servers.first)
        var settings = HTTPDNSBackend.Settings()
        settings.servers = FixedServers(servers.map(\.endpoint))
        change(&settings)
        let origin = Origin(
            scheme: .http, host: .name(try HostName("httpdns.example.test")),
            port: first.endpoint.port)
        return try HTTPDNSBackend(
            label: "lab", codec: codec,
            service: HTTPService(
                origin: origin, bootstrap: [first.endpoint.address], verifier: nil),
            transport: sharedTransport, settings: settings)
    }

    static func question(_ name: String, _ type: RecordType = .a) throws -> Question {
        Question(name: try HostName(name), type: type)
    }

    /// The addresses as one text, or the failure.
    static func outcome(
        _ backend: any ResolverBackend, _ question: Question, milliseconds: Int64 = 10_000
    ) async -> String {
        let deadline = SystemMonotonicClock().now().adding(milliseconds: milliseconds)
        do throws(QueryFailure) {
            let testimony = try await backend.ask(question, deadline: deadline)
            return testimony.answers.map { record in
                guard case .address(let address) = record.data else { return "\(record.data)" }
                return address.description
            }.joined(separator: " ")
        } catch {
            switch error {
            case .rejected(let code): return "rejected \(code)"
            case .httpStatus(let status): return "status \(status)"
            default: return error.label
            }
        }
    }
}
