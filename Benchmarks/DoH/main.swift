// Asks a DoH server of loopback through this library, and prints one line of JSON:
//
//     DoHBench PORT NAME ROOT.pem IN_FLIGHT LOOKUPS [callback|async|octets] [POST|GET]
//
// `async` is what applications do: a task a question; `callback` is the entry below it; `octets` leaves
// messages unread, as the peers in C do. Build it with
// `HTTPDNS_BENCH=1 swift build -c release --product DoHBench`.
import HTTPDNSDoH
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSSecureStream
import HTTPDNSTransport
import HTTPDNSTrust
import HTTPDNSWire

let arguments = CommandLine.arguments
func number(_ index: Int) -> Int {
    arguments.count > index ? max(0, Int(arguments[index]) ?? 0) : 0
}
let inFlight = number(4)
let lookups = number(5)
if inFlight == 0 || lookups == 0 || Port(arguments[1]) == nil {
    print("usage: DoHBench PORT NAME ROOT.pem IN_FLIGHT LOOKUPS [callback|async|octets] [POST|GET]")
    exit(code: 2)
}
guard let port = Port(arguments[1]) else { exit(code: 2) }
let mode = arguments.count > 6 ? arguments[6] : "callback"
let method: DoHMethod = arguments.count > 7 && arguments[7] == "GET" ? .get : .post
let verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .file(arguments[3])))
let origin = Origin(scheme: .https, host: .name(try HostName(arguments[2])), port: port)
let address = try IPAddress("127.0.0.1")
let messages = DoHMessages(target: "/dns-query", method: method)
let backend = try DoHBackend(
    url: HTTPURL(origin: origin, target: "/dns-query"),
    settings: DoHBackend.Settings(bootstrap: [address], verifier: verifier, method: method),
    transport: Transport())
guard let route = Route(addresses: [address], port: port) else { exit(code: 2) }
let client = StreamEngine.shared.client(
    for: SecureService(
        host: origin.host, route: route, verifier: verifier,
        form: .http2(messages.head(authority: origin.authority))))

// Names are made before the clock starts: parsing text is not what is measured.
let questions = try (0..<min(lookups, 100_000)).map {
    Question(name: try HostName("n\($0).wild.example.test"), type: .a)
}
let clock = SystemMonotonicClock()
let deadline = clock.now().adding(seconds: 120)

if mode == "async" {
    await runTasks()
} else {
    await withCheckedContinuation { continuation in
        let run = CallbackRun { continuation.resume() }
        run.start()
    }
}

func runTasks() async {
    // The first question pays for the connection.
    _ = try? await backend.ask(questions[0], deadline: deadline)
    let meter = Meter(lookups)
    let next = Locked(0)
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<inFlight {
            group.addTask {
                while true {
                    let number = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard number < lookups else { return }
                    let begun = clock.now()
                    do {
                        _ = try await backend.ask(
                            questions[number % questions.count], deadline: deadline)
                    } catch { fail("\(error)") }
                    meter.add(begun, clock.now())
                }
            }
        }
    }
    meter.report("swift_doh_async")
}

/// Each answer asks the next question, on the engine's thread.
final class CallbackRun: @unchecked Sendable {
    // Safety: after `start` everything here is touched by the engine's thread alone.
    private var asked = 0
    private var answered = 0
    private var meter = Meter(lookups)
    private let over: @Sendable () -> Void

    init(over: @escaping @Sendable () -> Void) { self.over = over }

    func start() {
        backend.ask(questions[0], deadline: deadline) { _ in
            self.meter = Meter(lookups)
            for _ in 0..<min(inFlight, lookups) { self.next() }
        }
    }

    private func next() {
        guard asked < lookups else { return }
        let question = questions[asked % questions.count]
        asked += 1
        let begun = clock.now()
        if mode == "octets" {
            guard let payload = try? messages.payload(for: question) else { fail("no payload") }
            client.ask(payload, deadline: deadline) { outcome in
                guard case .success(let reply) = outcome, reply.octets.count > 12,
                    reply.octets[3] & 15 == 0
                else { fail("\(outcome)") }
                self.took(begun)
            }
            return
        }
        backend.ask(question, deadline: deadline) { result in
            if case .failure(let failure) = result { fail("\(failure)") }
            self.took(begun)
        }
    }

    private func took(_ begun: Monotonic) {
        meter.add(begun, clock.now())
        answered += 1
        if answered == lookups {
            meter.report("swift_doh_" + mode)
            over()
        } else {
            next()
        }
    }
}

final class Meter: Sendable {
    private let latencies: Locked<[Int64]>
    private let begun = clock.now()
    private let cpuBegun = cpuMicroseconds()

    init(_ count: Int) {
        var empty: [Int64] = []
        empty.reserveCapacity(count)
        latencies = Locked(empty)
    }

    func add(_ from: Monotonic, _ to: Monotonic) {
        latencies.withLock { $0.append(to.nanoseconds - from.nanoseconds) }
    }

    func report(_ name: String) {
        let seconds = Double(clock.now().nanoseconds - begun.nanoseconds) / 1e9
        let cpu = cpuMicroseconds() - cpuBegun
        let sorted = latencies.withLock { $0 }.sorted()
        let count = Double(sorted.count)
        func microseconds(_ part: Double) -> Double {
            Double(sorted[min(sorted.count - 1, Int(count * part))] / 100) / 10
        }
        print(
            "{\"name\":\"\(name)\",\"lookups_per_s\":\(Int(count / seconds)),"
                + "\"cpu_us\":\((cpu / count * 100).rounded() / 100),"
                + "\"p50_us\":\(microseconds(0.5)),\"p99_us\":\(microseconds(0.99))}")
    }
}
