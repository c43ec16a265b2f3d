import CHTTPDNSSystem
import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport

/// One large body each way, in every style that streams: memory stays flat, and a reader that dawdles
/// holds the sender back.
struct LargeBodies {
    private let octets: Int
    private let growthOctets: Int64

    init(_ options: SessionSoakOptions) {
        octets = options.mebibytes << 20
        growthOctets = options.growthMebibytes << 20
    }

    func run() async throws -> [String] {
        let server = try StreamServer()
        let session = try SessionSoak.httpdns(trusting: try TestAuthority()).session(
            configuration: .ephemeral)
        guard let url = URL(string: "http://\(SoakOrigin.host):\(server.port)/\(octets)") else {
            return ["no URL"]
        }
        var faults: [String] = []
        faults += await measured("download to a file") {
            let file = try await session.download(from: url).0
            defer { try? FileManager.default.removeItem(at: file) }
            let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize
            return size == octets ? nil : "\(size ?? -1) octets"
        }
        server.reset()
        faults += await measured("data to a slow delegate") {
            let reader = SlowReader()
            let delegated = try SessionSoak.httpdns(trusting: try TestAuthority()).session(
                configuration: .ephemeral, delegate: reader)
            delegated.dataTask(with: url).resume()
            while !reader.isOver {
                await pause(milliseconds: 5)
                let ahead = server.sent - reader.count
                if ahead > LargeBodies.mostAheadOctets { return "\(ahead) octets ahead" }
            }
            return reader.count == octets ? nil : "\(reader.count) octets"
        }
        server.reset()
        faults += try await upload(session, url, server)
        return faults
    }

    private func upload(
        _ session: URLSession, _ url: URL, _ server: StreamServer
    ) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/large"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let piece = Data(repeating: 0x61, count: 1 << 20)
        for _ in 0..<(octets >> 20) { try handle.write(contentsOf: piece) }
        try handle.close()
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        return await measured("upload from a file to a slow server") {
            let data = try await session.upload(
                for: request, fromFile: URL(fileURLWithPath: path)
            ).0
            let told = String(decoding: data, as: UTF8.self)
            return told == "\(octets)" ? nil : told
        }
    }

    /// What the kernel's two socket buffers, libcurl and ours hold together, and room.
    private static let mostAheadOctets = 32 << 20

    private func measured(
        _ name: String, _ work: () async throws -> String?
    ) async -> [String] {
        let before = Usage.now(isTrimmed: true).residentOctets
        let peak = Peak()
        let started = Date()
        var faults: [String] = []
        do {
            if let fault = try await work() { faults.append("\(name): \(fault)") }
        } catch { faults.append("\(name): \(error)") }
        let growth = peak.stop() - before
        let seconds = Date().timeIntervalSince(started)
        say(
            "\(name): \(octets >> 20) MiB in \(Int(seconds * 1_000)) ms, "
                + "memory grew by \(Usage.mebibytes(max(growth, 0))) MiB")
        if growth > growthOctets { faults.append("\(name) grew by \(growth) octets") }
        return faults
    }
}

/// Watches the resident memory from a thread of its own.
private final class Peak: Sendable {
    private let state = Locked((peak: Int64(0), isOver: false))

    init() {
        let state = state
        _ = DetachedThread.start(named: "peak") {
            while !state.withLock({ $0.isOver }) {
                let now = Usage.now().residentOctets
                state.withLock { $0.peak = max($0.peak, now) }
                dawdle(milliseconds: 5)
            }
        }
    }

    func stop() -> Int64 {
        state.withLock { state in
            state.isOver = true
            return max(state.peak, Usage.now().residentOctets)
        }
    }
}

/// A delegate that takes its time for each piece.
private final class SlowReader: NSObject, URLSessionDataDelegate, Sendable {
    private let state = Locked((count: 0, isOver: false))

    var count: Int { state.withLock { $0.count } }
    var isOver: Bool { state.withLock { $0.isOver } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let count = state.withLock { state in
            state.count += data.count
            return state.count
        }
        if count >> 14 & 0xFF == 0 { dawdle(milliseconds: 5) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        state.withLock { $0.isOver = true }
    }
}

private struct NoListener: Error {}

/// Sends as many octets as a path says, and counts those of a PUT, slowly; keeps nothing.
final class StreamServer: Sendable {
    let port: UInt16
    private let counter = Locked(0)

    var sent: Int { counter.withLock { $0 } }

    func reset() { counter.withLock { $0 = 0 } }

    init() throws {
        let listener = httpdns_socket_bound(1, [127, 0, 0, 1], 4, 0)
        guard listener >= 0, listen(listener, 16) == 0 else {
            throw NoListener()
        }
        // It comes as one that does not block.
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
        port = UInt16(httpdns_socket_port(listener))
        let counter = counter
        _ = DetachedThread.start(named: "stream-server") {
            while true {
                let peer = accept(listener, nil, nil)
                guard peer >= 0 else { return }
                _ = DetachedThread.start(named: "stream-peer") {
                    StreamServer.serve(peer, counter)
                    close(peer)
                }
            }
        }
    }

    private static func serve(_ peer: Int32, _ counter: Locked<Int>) {
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0x61, count: 262_144)
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            var octet: UInt8 = 0
            guard recv(peer, &octet, 1, 0) == 1 else { return }
            head.append(octet)
        }
        let words = String(decoding: head, as: UTF8.self).split(separator: " ")
        guard words.count > 1, let octets = Int(words[1].dropFirst()) else { return }
        if words[0] == "PUT" {
            var count = 0
            while count < octets {
                let read = recv(peer, &piece, piece.count, 0)
                guard read > 0 else { return }
                count += read
                if count % 64 == 0 { dawdle(milliseconds: 1) }
            }
            let text = "\(count)"
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n" + text
            _ = send(peer, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            return
        }
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(octets)\r\n\r\n"
        _ = send(peer, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
        var left = octets
        counter.withLock { $0 = 0 }
        while left > 0 {
            let count = send(peer, piece, min(left, piece.count), Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            left -= count
            counter.withLock { $0 += count }
        }
    }
}
