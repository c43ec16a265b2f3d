import Foundation
import FoundationNetworking
import Glibc
import HTTPDNSCaching
import HTTPDNSExchange
import HTTPDNSPlatform
import HTTPDNSStore
import HTTPDNSURLSession
import TestSupport

/// Keeps responses until it is killed; says each round's number when all 30 of it are whole.
func keepResponses(_ directory: String, from first: Int) async throws {
    umask(0)
    let limits = ResponseLimits(maximumOctets: 64 << 20, largestBodyOctets: 1 << 20)
    let store = SQLiteResponseStore(directory: directory, limits: limits) { say("\($0)", on: 2) }
    for round in first... {
        for number in 0..<30 {
            let url = try HTTPURL("https://a.test/\(number)")
            let request = CacheRequest(
                method: .get, url: url, fields: HTTPFields(), digest: { $0 })
            guard let key = request.key,
                let variant = Variant(request, answeredWith: HTTPFields())
            else { continue }
            let keeper = store.keep(
                KeptResponse(
                    key: key, variant: variant,
                    head: ResponseHead(
                        url: url, status: 200, version: .http2, fields: HTTPFields()),
                    receivedAt: CacheMoment(wallSeconds: 0, bootMilliseconds: 0, bootID: ""),
                    initialAgeSeconds: 0, policy: []),
                hasRoom: {})
            var rest = ProvenBody.octets(number, round: round)[...]
            while !rest.isEmpty {
                _ = rest.prefix(10_000).withUnsafeBytes { keeper.write($0) }
                rest = rest.dropFirst(10_000)
            }
            keeper.finish()
        }
        await store.flush()
        say("\(round)")
    }
}

/// Reads a large body twice through a session whose client keeps it; says each time how many octets
/// came, how it was, and how much memory the process has had at most.
struct LargeBody {
    let session: URLSession
    let recorder = Counter()
    let url: URL

    init(port: String, rootFile: String, directory: String) throws {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.overrides = [
            try HostName("shop.example.test"): [try IPAddress("127.0.0.1")]
        ]
        configuration.usesHostsFile = false
        configuration.trust = TrustPolicy(roots: .pem(try contents(of: rootFile)))
        var cache = OfflineCacheSettings(directory: directory)
        cache.maximumOctets = 1 << 30
        cache.largestBodyOctets = 1 << 29
        configuration.offlineCache = cache
        session = try HTTPDNS(configuration).session(
            configuration: .ephemeral, delegate: recorder)
        guard let url = URL(string: "https://shop.example.test:\(port)/large") else {
            throw URLError(.badURL)
        }
        self.url = url
    }

    func run() async {
        say("start 0 \(LargeBody.peakKilobytes())")
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in
                recorder.state.withLock { $0 = Counter.State(done: { continuation.resume() }) }
                session.dataTask(with: url).resume()
            }
            let state = recorder.state.withLock { $0 }
            let how = state.age == nil ? "sent" : "kept"
            say("\(how) \(state.octets) \(LargeBody.peakKilobytes())")
        }
    }

    /// `VmHWM` of proc(5).
    private static func peakKilobytes() -> Int {
        let lines = (try? contents(of: "/proc/self/status"))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}

final class Counter: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Safety: what changes is behind `state`.
    struct State {
        var octets = 0
        var age: String?
        var done: @Sendable () -> Void = {}
    }

    let state = Locked(State())

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let age = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Age")
        state.withLock { $0.age = age }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.octets += data.count }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        if let error { say("\(error)", on: 2) }
        state.withLock { $0.done }()
    }
}
