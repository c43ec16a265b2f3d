// HTTP requests through URLSession and through this library; prints one line of JSON:
//
//     HTTPBench WAY get URL ROOT.pem IN_FLIGHT COUNT [h1|h2]
//     HTTPBench WAY body URL ROOT.pem
//
// WAY may end in `+ring`, `+file` (whose path is in HTTPDNS_BENCH_CAPTURE) or `+whole` (a file, bodies
// of any size kept): then a capture records. `session@100` and `client@100` send under so many rules,
// each of which is asked and none of which fits.
//
// WAY: `stock` URLSession as it is; `null` URLSession with a protocol that answers at once from memory:
// what any URLProtocol costs; `session` URLSession with this library installed; `client` HTTPDNSClient.
// `get` sends COUNT requests for a small body, IN_FLIGHT at a time. `body` takes one large body, in a
// delegate's pieces or a stream; `stock-whole`, `session-whole` and `client-whole` take it as one value.
// The stock loader knows the system's roots alone, so that it is measured on plain HTTP.

import CBenchSupport
import Foundation
import FoundationNetworking
import HTTPDNSPlatform
import HTTPDNSURLSession

enum BenchFault: Error {
    case usage
    case wrongAnswer(String)
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, let url = URL(string: arguments[3]) else {
    print("usage: HTTPBench WAY get|body URL ROOT.pem [IN_FLIGHT COUNT [h1|h2]]")
    throw BenchFault.usage
}
let way = String(arguments[1].prefix { $0 != "+" && $0 != "@" })
let ruleCount = Int(arguments[1].prefix { $0 != "+" }.drop { $0 != "@" }.dropFirst())
let recording = String(arguments[1].drop { $0 != "+" }.dropFirst())
let clock = SystemMonotonicClock()

let capture: Capture? = {
    guard !recording.isEmpty else { return nil }
    var configuration = CaptureConfiguration()
    if recording == "ring" {
        configuration.ringRecords = 1_000
    } else {
        configuration.path = ProcessInfo.processInfo.environment["HTTPDNS_BENCH_CAPTURE"]
    }
    if recording == "whole" {
        configuration.limits.maximumBodyOctets = 1 << 30
        configuration.limits.maximumOctets = 1 << 31
    }
    return Capture(configuration)
}()

func library() throws -> HTTPDNS {
    var configuration = HTTPDNSConfiguration()
    configuration.resolvers = []
    configuration.overrides = [try HostName("localhost"): [try IPAddress("127.0.0.1")]]
    configuration.trust = TrustPolicy(roots: .file(arguments[4]))
    // There are none to trust: the system's roots, where they are one file, take 25 ms to read.
    configuration.resolverTrust = configuration.trust
    if arguments.last == "h1" { configuration.highestVersion = .http11 }
    configuration.capture = capture
    return try HTTPDNS(configuration)
}

/// As many as were asked for, each with the conditions that rules mostly have; nil: none at all.
func rules() throws -> LiveRules? {
    guard let ruleCount else { return nil }
    let list = try (0..<ruleCount).map { number in
        RequestRule(
            "rule \(number)", .method(.get) && (try .host("**.service\(number).example.com")),
            .block)
    }
    return LiveRules(RequestRules(list))
}

func configuration() throws -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = 64
    if way == "null" {
        configuration.protocolClasses = [NullProtocol.self]
    } else if way.hasPrefix("session") {
        try library().install(into: configuration, rules: rules())
    }
    return configuration
}

// Safety: set and read by the main task alone, before and after the others.
nonisolated(unsafe) var allocationsBefore = Int64(0)

/// What was measured since `begun`, as a line.
func report(
    _ begun: (clock: Monotonic, computing: Int64), _ latencies: [Int64] = [], octets: Int64 = 0
) {
    let took = Double(clock.now().nanoseconds - begun.clock.nanoseconds)
    let computing = Double(httpdns_bench_cpu_nanoseconds() - begun.computing)
    var fields = ["\"name\":\"\(arguments[1])\""]
    if let counts = capture?.counts {
        fields += [
            "\"recorded\":\(counts.records)",
            "\"dropped\":\(counts.droppedRecords + counts.droppedBodies)",
        ]
    }
    if octets > 0 {
        fields += [
            "\"mb_per_s\":\(Double(octets) * 1_000 / took)",
            "\"cpu_ms\":\(computing / 1_000_000)",
            "\"peak_octets\":\(httpdns_bench_peak_resident_octets())",
        ]
    } else {
        let sorted = latencies.sorted()
        let count = Double(sorted.count)
        func microseconds(_ share: Double) -> Double {
            Double(sorted[min(Int(share * count), sorted.count - 1)]) / 1_000
        }
        fields += [
            "\"requests_per_s\":\(count * 1e9 / took)", "\"cpu_us\":\(computing / count / 1_000)",
            "\"p50_us\":\(microseconds(0.5))", "\"p99_us\":\(microseconds(0.99))",
            "\"allocations\":\(Double(httpdns_bench_allocations() - allocationsBefore) / count)",
        ]
    }
    print("{" + fields.joined(separator: ",") + "}")
}

/// Sends `count` requests, so many at a time, and gives each one's time.
func many(
    _ count: Int, _ inFlight: Int, _ send: @escaping @Sendable () async throws -> Void
) async throws -> [Int64] {
    let left = Locked(count)
    return try await withThrowingTaskGroup(of: [Int64].self) { group in
        for _ in 0..<inFlight {
            group.addTask {
                var times: [Int64] = []
                while left.withLock({ left in
                    left -= 1
                    return left >= 0
                }) {
                    let begun = clock.now()
                    try await send()
                    times.append(clock.now().nanoseconds - begun.nanoseconds)
                }
                return times
            }
        }
        var all: [Int64] = []
        for try await times in group { all += times }
        return all
    }
}

func gets() async throws {
    guard arguments.count >= 7, let inFlight = Int(arguments[5]), let count = Int(arguments[6])
    else { throw BenchFault.usage }
    let send: @Sendable () async throws -> Void
    if way == "client" {
        let client = try library().client
        let (request, rules) = (HTTPRequest(.get, try HTTPURL(arguments[3])), try rules())
        send = {
            let response =
                if let rules {
                    try await client.send(request, under: rules)
                } else { try await client.send(request) }
            let (body, _) = try await response.collect(upTo: 1_000)
            guard body.count == 13 else { throw BenchFault.wrongAnswer("\(body.count) octets") }
        }
    } else {
        let session = URLSession(configuration: try configuration())
        send = {
            let (data, _) = try await session.data(from: url)
            guard data.count == 13 else { throw BenchFault.wrongAnswer("\(data.count) octets") }
        }
    }
    // Connections and code are there before the clock starts.
    _ = try await many(4 * inFlight, inFlight, send)
    let begun = (clock.now(), httpdns_bench_cpu_nanoseconds())
    allocationsBefore = httpdns_bench_allocations()
    report(begun, try await many(count, inFlight, send))
}

/// What the library reads when it is set up, and with its first request, is not counted, as it is not of
/// libcurl's programs; the connection is.
func body() async throws {
    let taker = BodyTaker()
    let session =
        way.hasPrefix("client")
        ? nil
        : URLSession(
            configuration: try configuration(), delegate: way.hasSuffix("-whole") ? nil : taker,
            delegateQueue: nil)
    let client = session == nil ? try library().client : nil
    try await first(client, session)
    let begun = (clock.now(), httpdns_bench_cpu_nanoseconds())
    let octets: Int64
    switch (client, session) {
    case (let client?, _) where way == "client-whole":
        octets = Int64(try await client.data(from: url).0.count)
    case (let client?, _):
        var count: Int64 = 0
        let response = try await client.send(HTTPRequest(.get, try HTTPURL(arguments[3])))
        for try await chunk in response.body { count += Int64(chunk.count) }
        octets = count
    case (nil, let session?) where way.hasSuffix("-whole"):
        octets = Int64(try await session.data(from: url).0.count)
    case (nil, let session?):
        session.dataTask(with: url).resume()
        octets = try await taker.end()
    case (nil, nil): throw BenchFault.usage
    }
    report(begun, octets: octets)
}

/// A small answer of another host, whose connection is of no use to the one that is measured.
func first(_ client: HTTPDNSClient?, _ session: URLSession?) async throws {
    guard let other = URL(string: "http://127.0.0.1:\(url.port ?? 80)/small") else { return }
    if let client {
        _ = try await client.data(from: other)
    } else if let session {
        _ = try await session.data(from: other)
    }
}

/// Counts what a delegate is given.
final class BodyTaker: NSObject, URLSessionDataDelegate {
    private let state = Locked(State())

    private struct State: Sendable {
        var octets: Int64 = 0
        var end: Result<Int64, any Error>?
        var waiter: CheckedContinuation<Int64, any Error>?
    }

    func end() async throws -> Int64 {
        try await withCheckedThrowingContinuation { waiter in
            let end = state.withLock { state in
                state.waiter = waiter
                return state.end
            }
            if let end { waiter.resume(with: end) }
        }
    }

    func urlSession(_: URLSession, dataTask _: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.octets += Int64(data.count) }
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let (waiter, end) = state.withLock { state in
            let end: Result<Int64, any Error> = error.map { .failure($0) } ?? .success(state.octets)
            state.end = end
            return (state.waiter, end)
        }
        waiter?.resume(with: end)
    }
}

/// Answers at once, from memory.
final class NullProtocol: URLProtocol {
    override class func canInit(with _: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("hello, world\n".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

if arguments[2] == "body" { try await body() } else { try await gets() }
await capture?.close()
