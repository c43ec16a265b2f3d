import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Hundreds of requests that are cancelled at any moment, by several sessions of two clients that
/// share one directory.
@Suite(.timeLimit(.minutes(8))) struct CachingStormTests {
    private static let pages = 24

    /// From an octet to more than the store takes in at a time.
    ///
    /// Made once: to make them for each request, and for each end under one lock, is most of this test's
    /// work, and minutes of it under a sanitizer.
    private static let bodies: [[UInt8]] = (0..<pages).map { page in
        let octets = [1, 900, 40_000, 300_000][page % 4]
        return (0..<octets).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ page &+ $0 >> 8) }
    }

    /// Fresh, validated, varying, forbidden: what a page's answers are kept as.
    private static func answer(_ request: LabRequest) -> LabResponse {
        let page = Int(request.path.dropFirst()) ?? 0
        let tag = "\"\(page)\""
        let control = ["max-age=600", "no-cache", "max-age=0", "no-store"][page / 4 % 4]
        let fields: KeyValuePairs<String, String> = [
            "Cache-Control": control, "ETag": tag, "Vary": "Accept-Language",
        ]
        if request.value(of: "If-None-Match")?.contains(tag) == true {
            return LabResponse(status: 304).with(fields)
        }
        let whole = LabResponse(body: bodies[page]).with(fields)
        return page.isMultiple(of: 3) ? whole.chunked(octets: 7_000) : whole
    }

    /// How each task ended, and what was wrong with it.
    private final class Ends: Sendable {
        private struct State {
            var counts: [Int: Int] = [:]
            var faults: [String] = []
            var whole = 0
        }

        private let state = Locked(State())

        var tasks: Int { state.withLock { $0.counts.count } }
        var most: Int { state.withLock { $0.counts.values.max() ?? 0 } }
        var whole: Int { state.withLock { $0.whole } }
        var faults: [String] { state.withLock { $0.faults } }

        func note(_ number: Int, page: Int, _ data: Data?, _ error: (any Error)?) {
            let isCancelled = (error as? URLError)?.code == .cancelled
            state.withLock { state in
                state.counts[number, default: 0] += 1
                if let error {
                    if !isCancelled { state.faults.append("\(number): \(error)") }
                } else if data != Data(CachingStormTests.bodies[page]) {
                    state.faults.append("\(number): \(data?.count ?? -1) octets of page \(page)")
                } else {
                    state.whole += 1
                }
            }
        }
    }

    /// The same numbers in every run.
    private struct Chance {
        var state: UInt64

        mutating func draw(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `each task ends once, what is kept is whole, and nothing stays open`(seed: UInt64)
        async throws
    {
        let lab = try CachingLab()
        let server = try lab.origin { Self.answer($0) }
        let clients = [try lab.httpdns(), try lab.httpdns()]
        let sessions = clients.flatMap { httpdns in
            (0..<2).map { _ in httpdns.session(configuration: .ephemeral) }
        }
        let ends = Ends()
        var chance = Chance(state: seed)
        let count = 300
        for number in 0..<count {
            let page = chance.draw(Self.pages)
            var request = URLRequest(url: try #require(URL(string: server.at("/\(page)"))))
            request.timeoutInterval = 300
            request.setValue(["de", "en"][chance.draw(2)], forHTTPHeaderField: "Accept-Language")
            let task = sessions[chance.draw(sessions.count)].dataTask(with: request) {
                data, _, error in
                ends.note(number, page: page, data, error)
            }
            task.resume()
            switch chance.draw(3) {
            case 0: break
            case 1: task.cancel()
            default:
                let turns = chance.draw(400)
                Task {
                    for _ in 0..<turns { await Task.yield() }
                    task.cancel()
                }
            }
        }
        #expect(await eventually(withinMilliseconds: 240_000) { ends.tasks == count })
        for session in sessions { session.finishTasksAndInvalidate() }
        for httpdns in clients {
            await httpdns.offlineCache?.flush()
            let joined = try #require(httpdns.client.parts.cache).joined
            #expect(await eventually(withinMilliseconds: 60_000) { joined.isEmpty })
        }
        #expect(ends.most == 1)
        #expect(ends.faults == [])
        #expect(ends.whole > 0)
        server.stop()
        try await checkStore(clients, lab, server)
    }

    /// Every row has its body, every file its row, and no file is held open.
    private func checkStore(
        _ clients: [HTTPDNS], _ lab: CachingLab, _ server: LabServer
    ) async throws {
        let url = { (page: Int) in server.at("/\(page)") }
        for page in 0..<Self.pages {
            for language in ["de", "en"] {
                let fetched = try await clients[0].fetch(url(page), mode: .onlyIfCached) {
                    try? $0.head.fields.set("Accept-Language", language)
                }
                guard fetched.head.status == 200 else { continue }
                #expect(fetched.body == Self.bodies[page], "page \(page) in \(language)")
            }
        }
        let bodies = lab.place + "/bodies"
        // A transfer that was cancelled lets go of its file when it is over, after its task.
        let isTidy = await eventually(withinMilliseconds: 60_000) {
            for httpdns in clients { await httpdns.offlineCache?.flush() }
            let rows = await clients[0].offlineCache?.contents()?.responses
            let files = try? FileManager.default.contentsOfDirectory(atPath: bodies).count
            return rows != nil && rows == files && Self.open(below: bodies).isEmpty
        }
        #expect(isTidy, "\(Self.open(below: bodies))")
    }

    /// The files of this process that lie there.
    private static func open(below path: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }.filter { $0.hasPrefix(path) }
    }
}
