internal import CHTTPDNSSystem
internal import Dispatch
package import Foundation
package import HTTPDNSExchange
internal import HTTPDNSPlatform

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Writes the body of a download to a file of its own, off the transport's thread.
///
/// What has not been written yet stands in memory: at ``highWaterOctets`` the transfer is to pause,
/// until the disk has caught up. The file is made with the first octet or the end, readable by its owner
/// alone, and removed when it is given up, or dropped before it was handed over.
package final class DownloadFile: Sendable {
    /// Because: four of the transport's pieces of 256 KiB keep the disk busy while more arrives.
    private static let highWaterOctets = 1_048_576

    private struct State {
        var waiting: [UInt8] = []
        /// What the writing queue has taken and not yet written.
        var writing = 0
        var isScheduled = false
        var isPaused = false
        var isGivenUp = false
        var isMade = false
        var isHandedOver = false
        var end: (@Sendable (Result<URL, DownloadFault>) -> Void)?
    }

    let url: URL
    private let queue = DispatchQueue(label: "httpdns-download")
    private let state = Locked(State())
    /// -1 before it is made, and after the end.
    private let descriptor = Locked<Int32>(-1)
    private let onWritten: @Sendable (Int) -> Void
    private let onFault: @Sendable (DownloadFault) -> Void
    private let onRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - directory: where the file is made.
    ///   - onWritten: told on the writing queue how many octets were written.
    ///   - onFault: told there, once, that the file cannot be written.
    ///   - onRoom: told there that the transfer may go on after a pause.
    package init(
        in directory: URL = FileManager.default.temporaryDirectory,
        onWritten: @escaping @Sendable (Int) -> Void,
        onFault: @escaping @Sendable (DownloadFault) -> Void,
        onRoom: @escaping @Sendable () -> Void
    ) {
        url = directory.appendingPathComponent(
            "httpdns-download-\(UUID().uuidString).tmp")
        self.onWritten = onWritten
        self.onFault = onFault
        self.onRoom = onRoom
    }

    deinit {
        shut()
        if state.withLock({ $0.isMade && !$0.isHandedOver }) { unlink(url.path) }
    }

    /// Takes octets over; on the transport's thread.
    package func take(_ octets: UnsafeRawBufferPointer) -> Flow {
        let (flow, isFirst) = state.withLock { state -> (Flow, Bool) in
            guard !state.isGivenUp else { return (.more, false) }
            state.waiting.append(contentsOf: octets)
            state.isPaused =
                state.waiting.count + state.writing >= DownloadFile.highWaterOctets
            defer { state.isScheduled = true }
            return (state.isPaused ? .pause : .more, !state.isScheduled)
        }
        if isFirst { queue.async { self.write() } }
        return flow
    }

    /// The transfer is to wait.
    package var isFull: Bool { state.withLock { $0.isPaused } }

    /// Everything has come: `end` is told, on the writing queue, when all of it is in the file.
    package func finish(_ end: @escaping @Sendable (Result<URL, DownloadFault>) -> Void) {
        let isFirst = state.withLock { state in
            state.end = end
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.async { self.write() } }
    }

    /// From now on the file is the caller's to remove.
    package func handOver() -> URL {
        state.withLock { $0.isHandedOver = true }
        return url
    }

    /// No file is left, unless it was handed over; nobody is told anything more.
    package func giveUp() {
        state.withLock { state in
            state.isGivenUp = true
            state.waiting = []
            state.end = nil
        }
        queue.async { self.remove() }
    }

    // MARK: On the writing queue

    private func write() {
        while let octets = next() {
            guard !octets.isEmpty else { return finished() }
            guard open(), put(octets) else { return failed() }
            let hasRoom = state.withLock { state in
                state.writing = 0
                guard state.isPaused, state.waiting.count < DownloadFile.highWaterOctets / 2
                else { return false }
                state.isPaused = false
                return true
            }
            onWritten(octets.count)
            if hasRoom { onRoom() }
        }
    }

    /// What to write next: none for the end, nil for nothing now.
    private func next() -> [UInt8]? {
        state.withLock { state in
            guard !state.isGivenUp else { return nil }
            let octets = state.waiting
            guard !octets.isEmpty || state.end != nil else {
                state.isScheduled = false
                return nil
            }
            state.waiting = []
            state.writing = octets.count
            return octets
        }
    }

    private func open() -> Bool {
        guard descriptor.withLock({ $0 }) < 0 else { return true }
        let made = httpdns_file_create_private(url.path)
        guard made >= 0 else {
            errno = -made
            return false
        }
        descriptor.withLock { $0 = made }
        state.withLock { $0.isMade = true }
        return true
    }

    private func put(_ octets: [UInt8]) -> Bool {
        let file = descriptor.withLock { $0 }
        return octets.withUnsafeBytes { octets in
            var rest = octets[...]
            while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                let count = Foundation.write(file, base, rest.count)
                guard count >= 0 || errno == EINTR else { return false }
                rest = rest.dropFirst(max(count, 0))
            }
            return true
        }
    }

    private func finished() {
        guard open() else { return failed() }
        let end = state.withLock { state in
            defer { state.end = nil }
            return state.end
        }
        shut()
        // Given up in this moment: nobody would take the file.
        guard let end else { return remove() }
        end(.success(url))
    }

    private func failed() {
        let fault = DownloadFault(path: url.path, code: errno)
        let (end, isGivenUp) = state.withLock { state in
            defer {
                state.isGivenUp = true
                state.waiting = []
                state.end = nil
            }
            return (state.end, state.isGivenUp)
        }
        remove()
        if let end { end(.failure(fault)) } else if !isGivenUp { onFault(fault) }
    }

    private func remove() {
        shut()
        let isOurs = state.withLock { state in
            defer { state.isMade = false }
            return state.isMade && !state.isHandedOver
        }
        if isOurs { unlink(url.path) }
    }

    private func shut() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }
}

/// A download could not be written to its file.
package struct DownloadFault: Error, Sendable, Hashable {
    let path: String
    let code: Int32

    package var urlError: URLError {
        .make(
            code == ENOSPC ? .cannotWriteToFile : .cannotCreateFile, nil,
            "the download cannot be written to \(path): \(String(cString: strerror(code)))",
            underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(code)))
    }
}
