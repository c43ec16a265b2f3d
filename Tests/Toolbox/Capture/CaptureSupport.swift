import HTTPDNS
import HTTPDNSPlatform
import Testing

extension CaptureRecord {
    /// A record of nothing in particular.
    static func sample(
        _ path: String = "/", status: Int? = 200, host: String = "shop.example.test",
        startedAt: CaptureTime = Capture.now, body: [UInt8] = []
    ) -> CaptureRecord {
        var hop = Hop(url: "https://\(host)\(path)", requestFields: [Field("Accept", "*/*")])
        hop.status = status
        hop.version = "1.1"
        hop.responseFields = [Field("Content-Type", "text/plain")]
        hop.sentOctets = 100
        hop.receivedOctets = 200
        var record = CaptureRecord(.exchange, hop, startedAt: startedAt)
        record.totalMilliseconds = 12.5
        record.responseBody = Body(body)
        return record
    }
}

enum CapturedPath {
    /// From the path on.
    static func of(_ url: String) -> String {
        guard let mark = url.firstRange(of: "//"),
            let slash = url[mark.upperBound...].firstIndex(of: "/")
        else { return url }
        return String(url[slash...])
    }
}

/// Holds a thread back until it is opened.
final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var hasCome = false
    }

    private let state = ConditionLocked(State())

    func pass() {
        state.withLockSignalling { $0.hasCome = true }
        _ = state.waitAndTake({ state, _ in state.isOpen ? [true] : [] }, until: { _ in nil })
    }

    func awaitArrival() {
        _ = state.waitAndTake({ state, _ in state.hasCome ? [true] : [] }, until: { _ in nil })
    }

    func open() { state.withLockSignalling { $0.isOpen = true } }
}

/// A body of octets at hand that can be repeated, given in small pieces.
final class RepeatableSource: RequestBodySource {
    private let octets: [UInt8]
    private let place = Locked(0)

    init(_ octets: [UInt8]) { self.octets = octets }

    var length: Int64? { Int64(octets.count) }
    var canRewind: Bool { true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        place.withLock { place in
            let count = min(7, buffer.count, octets.count - place)
            guard count > 0 else { return .end }
            buffer.copyBytes(from: octets[place..<place + count])
            place += count
            return .filled(count)
        }
    }

    func whenReadable(_: @escaping @Sendable () -> Void) {}

    func rewind() -> Bool {
        place.withLock { $0 = 0 }
        return true
    }
}
