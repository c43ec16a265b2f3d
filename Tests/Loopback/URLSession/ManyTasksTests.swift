import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct ManyTasksTests {
    let lab: SessionLab
    private let page = String(repeating: "0123456789abcdef", count: 2_048)

    init() throws { lab = try SessionLab() }

    private func withNginx(_ body: (URL) async throws -> Void) async throws {
        let nginx = try await NginxOrigin(
            try lab.lab.root.leaf([.dns(SessionLab.host)], commonName: "Lab origin"))
        do {
            let base = "https://\(SessionLab.host):\(nginx.endpoint.port)/files/page"
            let url = try #require(URL(string: base))
            var put = URLRequest(url: url)
            put.httpMethod = "PUT"
            put.httpBody = Data(page.utf8)
            #expect(await (try lab.session()).load(put).status == 201)
            try await body(url)
        } catch { Issue.record(error) }
        try await nginx.stop()
    }

    @Test func `two thousand tasks at a time in three styles all get whole bodies`()
        async throws
    {
        let page = page
        try await withNginx { url in
            let recorder = DelegateRecorder()
            let httpdns = try lab.lab.httpdns()
            let delegated = try lab.session(httpdns, delegate: recorder)
            let session = try lab.session(httpdns)
            let whole = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
                for number in 0..<2_000 {
                    switch number % 3 {
                    case 0: delegated.dataTask(with: url).resume()
                    case 1: group.addTask { await session.load(url).text == page }
                    default:
                        group.addTask {
                            let answer = try? await session.data(from: url)
                            return answer?.0 == Data(page.utf8)
                        }
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(whole == 1_333)
            let story = await recorder.ended(667)
            #expect(story.ends.allSatisfy { $0 == nil })
            #expect(story.responses == [Int](repeating: 200, count: 667))
            #expect(story.data.count == 667 * page.utf8.count)
        }
    }

    @Test func `a storm of cancels ends every task once, and the session stays usable`()
        async throws
    {
        let page = page
        try await withNginx { url in
            let recorder = DelegateRecorder()
            let httpdns = try lab.lab.httpdns()
            let delegated = try lab.session(httpdns, delegate: recorder)
            let session = try lab.session(httpdns)
            let answers = await withTaskGroup(of: Loaded.self, returning: [Loaded].self) { group in
                for number in 0..<1_000 {
                    let pause = Int.random(in: 0..<2_000)
                    if number % 2 == 0 {
                        let task = delegated.dataTask(with: url)
                        task.resume()
                        Task {
                            for _ in 0..<pause { await Task.yield() }
                            task.cancel()
                        }
                    } else {
                        group.addTask {
                            await session.load(URLRequest(url: url)) { task in
                                Task {
                                    for _ in 0..<pause { await Task.yield() }
                                    task.cancel()
                                }
                            }
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 500)
            for answer in answers {
                #expect(answer.error?.code == .cancelled || answer.text == page)
            }
            let story = await recorder.ended(500)
            #expect(story.ends.count == 500)
            #expect(story.ends.allSatisfy { $0 == nil || $0?.code == .cancelled })
            #expect(await session.load(url).text == page)
            #expect(await delegated.load(url).text == page)
        }
    }
}
