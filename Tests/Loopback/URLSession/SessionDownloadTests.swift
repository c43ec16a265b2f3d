import Foundation
import FoundationNetworking
import HTTPDNSExchange
import HTTPDNSInterception
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport
import Testing

/// Downloads go to a file, in every style, and leave none behind.
@Suite(.timeLimit(.minutes(2))) struct SessionDownloadTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private static let large = Data.pattern(5_000_000)

    private func origin() throws -> LabServer {
        try lab.origin { request in
            switch request.path {
            case "/large": LabResponse(body: Array(SessionDownloadTests.large))
            case "/empty": LabResponse(status: 200)
            case "/missing": .text("not here", status: 404)
            case "/moved": .redirect(to: "/large")
            case "/cut": LabResponse(body: [1, 2, 3]).conducting(.closes(afterBodyOctets: 1))
            case "/stalled": LabResponse(body: [1, 2, 3]).conducting(.stalls(afterBodyOctets: 1))
            default: .text("hello \(request.path)")
            }
        }
    }

    @Test func `a completion handler gets a file, which is gone afterwards`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        for path in ["/large", "/moved"] {
            let got = await session.download(URLRequest(url: try origin.page(path)))
            #expect(got.data == SessionDownloadTests.large)
            #expect(got.response?.statusCode == 200)
            let file = try #require(got.file)
            #expect(await gone(file))
        }
        #expect(await session.download(URLRequest(url: try origin.page("/empty"))).data == Data())
        let missing = await session.download(URLRequest(url: try origin.page("/missing")))
        #expect(missing.response?.statusCode == 404)
        #expect(missing.data == Data("not here".utf8))
    }

    @Test func `a file that the handler moves stays, readable by its owner alone`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let kept = URL(fileURLWithPath: directory.path + "/kept")
        let session = try lab.session()
        let got = await session.download(URLRequest(url: try origin.page("/large"))) { file in
            try? FileManager.default.moveItem(at: file, to: kept)
        }
        #expect(got.error == nil)
        // Another download is over after anything that was to come of this one.
        _ = await session.download(URLRequest(url: try origin.page("/empty")))
        #expect(try Data(contentsOf: kept) == SessionDownloadTests.large)
        let facts = try FileManager.default.attributesOfItem(atPath: kept.path)
        #expect(facts[.posixPermissions] as? Int == 0o600)
    }

    @Test func `async calls get a file that is theirs`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session()
        let (first, response) = try await session.download(from: try origin.page("/large"))
        let (second, _) = try await session.download(
            for: URLRequest(url: try origin.page("/moved")))
        for file in [first, second] {
            #expect(try Data(contentsOf: file) == SessionDownloadTests.large)
            try FileManager.default.removeItem(at: file)
        }
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        await #expect(throws: URLError.self) {
            try await session.download(from: try origin.page("/cut"))
        }
    }

    @Test func `a delegate is told of progress, then of the file, then of the end`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let recorder = DownloadRecorder()
        let session = try lab.session(delegate: recorder)
        let task = session.downloadTask(with: try origin.page("/large"))
        task.resume()
        let story = await recorder.ended()
        #expect(story.bodies == [SessionDownloadTests.large])
        #expect(story.ends == [nil])
        #expect(story.order.last == "end")
        #expect(story.order.dropLast().last == "file")
        #expect(story.written.reduce(0) { $0 + $1.new } == 5_000_000)
        #expect(story.written.last?.total == 5_000_000)
        #expect(story.written.allSatisfy { $0.expected == 5_000_000 })
        #expect(task.countOfBytesReceived == 5_000_000)
        #expect(task.countOfBytesExpectedToReceive == 5_000_000)
        #expect(await gone(try #require(story.files.first)))
    }

    @Test func `a download that breaks, stalls or is cancelled leaves no file`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let session = try lab.session { $0.timeoutIntervalForRequest = 2 }
        let cut = await session.download(URLRequest(url: try origin.page("/cut")))
        #expect(cut.error?.code == .networkConnectionLost)
        #expect(cut.file == nil)
        let stalled = await session.download(URLRequest(url: try origin.page("/stalled")))
        #expect(stalled.error?.code == .timedOut)
        let recorder = DownloadRecorder()
        let delegated = try lab.session(delegate: recorder)
        let task = delegated.downloadTask(with: try origin.page("/stalled"))
        task.resume()
        #expect(await eventually(withinMilliseconds: 30_000) { task.countOfBytesReceived == 1 })
        task.cancel()
        let story = await recorder.ended()
        #expect(story.ends.first??.code == .cancelled)
        #expect(story.files.isEmpty)
    }

    @Test func `a file that cannot be made is told once, and nothing is left`() async throws {
        let faults = Locked<[DownloadFault]>([])
        let ends = Locked<[Result<URL, DownloadFault>]>([])
        let nowhere = URL(fileURLWithPath: "/nowhere/at/all")
        let file = DownloadFile(
            in: nowhere, onWritten: { _ in Issue.record("written") },
            onFault: { fault in faults.withLock { $0.append(fault) } }, onRoom: {})
        for _ in 0..<3 { _ = [UInt8](repeating: 1, count: 4_096).withUnsafeBytes(file.take) }
        #expect(await eventually(withinMilliseconds: 30_000) { !faults.withLock { $0 }.isEmpty })
        #expect(faults.withLock { $0.map(\.urlError.code) } == [.cannotCreateFile])
        let empty = DownloadFile(
            in: nowhere, onWritten: { _ in }, onFault: { _ in Issue.record("a fault") },
            onRoom: {})
        empty.finish { end in ends.withLock { $0.append(end) } }
        #expect(await eventually(withinMilliseconds: 30_000) { ends.withLock { $0.count } == 1 })
        #expect(throws: DownloadFault.self) { try ends.withLock { $0[0] }.get() }
    }

    @Test func `a file that falls behind makes the sender wait, and is whole in the end`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let room = Locked(0)
        let written = Locked(0)
        let calls = BlockedCalls()
        let release = ReleaseAtEnd(calls)
        let file = DownloadFile(
            in: URL(fileURLWithPath: directory.path),
            onWritten: { count in
                written.withLock { $0 += count }
                calls.block()
            }, onFault: { _ in Issue.record("a fault") },
            onRoom: { room.withLock { $0 += 1 } })
        let piece = [UInt8](repeating: 7, count: 262_144)
        #expect(piece.withUnsafeBytes(file.take) == .more)
        await calls.begun(1)
        let flows = (0..<4).map { _ in piece.withUnsafeBytes(file.take) }
        #expect(flows == [.more, .more, .more, .pause])
        #expect(written.withLock { $0 } == piece.count)
        calls.release()
        #expect(await eventually(withinMilliseconds: 30_000) { room.withLock { $0 } == 1 })
        let url: URL = try await withCheckedThrowingContinuation { waiter in
            file.finish { waiter.resume(with: $0) }
        }
        #expect(try Data(contentsOf: url) == Data(repeating: 7, count: 5 * piece.count))
        withExtendedLifetime(release) {}
    }

    private func gone(_ file: URL) async -> Bool {
        await eventually(withinMilliseconds: 30_000) {
            !FileManager.default.fileExists(atPath: file.path)
        }
    }
}
