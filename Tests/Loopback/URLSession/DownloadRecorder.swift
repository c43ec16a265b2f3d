import Foundation
import FoundationNetworking
import HTTPDNSPlatform
import TestSupport

/// A delegate of download tasks that keeps what it is told.
final class DownloadRecorder: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    // Safety: everything that changes is behind `state`.
    struct Story: Sendable {
        var order: [String] = []
        var files: [URL] = []
        var bodies: [Data?] = []
        var written: [(new: Int64, total: Int64, expected: Int64)] = []
        var ends: [URLError?] = []
    }

    private let state = Locked(Story())

    var story: Story { state.withLock { $0 } }

    /// Waits for the end of `count` tasks.
    func ended(_ count: Int = 1) async -> Story {
        _ = await eventually(withinMilliseconds: 60_000) {
            self.state.withLock { $0.ends.count } >= count
        }
        return story
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let body = try? Data(contentsOf: location)
        state.withLock { state in
            state.order.append("file")
            state.files.append(location)
            state.bodies.append(body)
        }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData new: Int64,
        totalBytesWritten total: Int64, totalBytesExpectedToWrite expected: Int64
    ) {
        state.withLock { state in
            state.order.append("written")
            state.written.append((new, total, expected))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        state.withLock { state in
            state.order.append("end")
            state.ends.append(error as? URLError)
        }
    }
}
