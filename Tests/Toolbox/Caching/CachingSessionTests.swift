import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// The same cache through stock sessions.
@Suite struct CachingSessionTests {
    private struct Answer: Sendable {
        let text: String
        let status: Int?
        let age: String?
        let error: URLError?
    }

    private static func load(_ session: URLSession, _ request: URLRequest) async -> Answer {
        await withCheckedContinuation { continuation in
            session.dataTask(with: request) { data, response, error in
                let http = response as? HTTPURLResponse
                continuation.resume(
                    returning: Answer(
                        text: String(decoding: data ?? Data(), as: UTF8.self),
                        status: http?.statusCode, age: http?.value(forHTTPHeaderField: "Age"),
                        error: error as? URLError))
            }.resume()
        }
    }

    private static func request(
        _ url: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: url)), cachePolicy: policy)
    }

    private static func counting(_ control: String) -> @Sendable (LabRequest) -> LabResponse {
        let count = Locked(0)
        return { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return LabResponse.text("\(request.target) \(number)").with([
                "Cache-Control": control, "ETag": "\"\(number)\"",
            ])
        }
    }

    private func session(
        _ httpdns: HTTPDNS, configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configure(configuration)
        return httpdns.session(configuration: configuration)
    }

    @Test func `a session's answers are kept by URL and query, and answer offline`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting("max-age=600"))
        let httpdns = try lab.httpdns()
        let session = session(httpdns)
        defer { session.invalidateAndCancel() }
        for number in [1, 2] {
            let url = server.at("/list?page=\(number)")
            #expect(try await Self.load(session, Self.request(url)).text.hasSuffix(" \(number)"))
        }
        server.stop()
        for number in [1, 2] {
            let url = server.at("/list?page=\(number)")
            let kept = try await Self.load(session, Self.request(url))
            #expect(kept.text == "/list?page=\(number) \(number)")
            #expect(kept.age != nil)
        }
        httpdns.offlineCache?.mode = .onlyIfCached
        let missing = try await Self.load(session, Self.request(server.at("/list?page=3")))
        #expect(missing.status == 504)
        #expect(missing.error == nil)
    }

    @Test func `each cache policy of Foundation is a mode`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting("max-age=600"))
        defer { server.stop() }
        let session = session(try lab.httpdns())
        defer { session.invalidateAndCancel() }
        let load = { (policy: URLRequest.CachePolicy) in
            try await Self.load(session, Self.request(server.at(), policy))
        }
        let missing = try await load(.returnCacheDataDontLoad)
        #expect(missing.error?.code == .resourceUnavailable)
        #expect(server.count == 0)
        #expect(try await load(.returnCacheDataElseLoad).text == "/ 1")
        #expect(try await load(.returnCacheDataElseLoad).text == "/ 1")
        #expect(try await load(.returnCacheDataDontLoad).text == "/ 1")
        #expect(try await load(.useProtocolCachePolicy).text == "/ 1")
        #expect(server.count == 1)
        #expect(try await load(.reloadRevalidatingCacheData).text == "/ 2")
        #expect(server.record.requests.last?.value(of: "If-None-Match") == "\"1\"")
        #expect(try await load(.reloadIgnoringLocalCacheData).text == "/ 3")
        #expect(server.record.requests.last?.value(of: "Cache-Control") == nil)
        #expect(try await load(.reloadIgnoringLocalAndRemoteCacheData).text == "/ 4")
        #expect(server.record.requests.last?.value(of: "Cache-Control") == "no-cache")
        #expect(try await load(.useProtocolCachePolicy).text == "/ 4")
    }

    @Test func `the policy of the session's configuration counts where the request has none`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting("max-age=600"))
        defer { server.stop() }
        let session = session(try lab.httpdns()) {
            $0.requestCachePolicy = .returnCacheDataDontLoad
        }
        defer { session.invalidateAndCancel() }
        let missing = try await Self.load(session, Self.request(server.at()))
        #expect(missing.error?.code == .resourceUnavailable)
        #expect(server.count == 0)
    }

    @Test func `what a URLCache holds, by its key without a query, reaches no answer`()
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting("max-age=600"))
        defer { server.stop() }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let session = session(try lab.httpdns()) { $0.urlCache = cache }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.at("/page?of=another")))
        let stored = try #require(
            HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                headerFields: ["Cache-Control": "max-age=600"]))
        cache.storeCachedResponse(
            CachedURLResponse(
                response: stored, data: Data("wrong".utf8), storagePolicy: .allowed),
            for: URLRequest(url: url))
        for policy in [URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad] {
            let answer = try await Self.load(
                session, Self.request(server.at("/page?of=mine"), policy))
            #expect(answer.text == "/page?of=mine 1")
        }
        #expect(cache.currentDiskUsage == 0)
    }

    @Test func `the client in the shape of a session knows the policies, too`() async throws {
        let lab = try CachingLab()
        let server = try lab.origin(Self.counting("max-age=600"))
        let httpdns = try lab.httpdns()
        let offline = try Self.request(server.at(), .returnCacheDataDontLoad)
        await #expect(throws: URLError.self) { try await httpdns.client.data(for: offline) }
        _ = try await httpdns.client.data(for: Self.request(server.at()))
        server.stop()
        let (data, _) = try await httpdns.client.data(for: offline)
        #expect(String(decoding: data, as: UTF8.self) == "/ 1")
    }

    @Test func `downloads are kept and given out to files`() async throws {
        let lab = try CachingLab()
        let body = [UInt8](
            (0..<9_000).map { Array("piece \($0) of many, in order\n".utf8) }.joined())
        let server = try lab.origin { _ in
            LabResponse(fields: [LabField("Cache-Control", "max-age=600")], body: body)
        }
        let session = session(try lab.httpdns())
        defer { session.invalidateAndCancel() }
        let request = try Self.request(server.at())
        for turn in 0..<3 {
            if turn == 1 { server.stop() }
            let data = await withCheckedContinuation { continuation in
                session.downloadTask(with: request) { file, _, _ in
                    continuation.resume(returning: file.flatMap { try? Data(contentsOf: $0) })
                }.resume()
            }
            #expect(data == Data(body), "turn \(turn)")
        }
    }
}
