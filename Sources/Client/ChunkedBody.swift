internal import HTTPDNSExchange
internal import HTTPDNSPlatform

extension RequestBody {
    /// The same without a length, so that HTTP/1.1 sends it in chunks.
    var inChunks: RequestBody {
        switch self {
        case .none: .none
        case .bytes(let octets): .stream(OctetSource(octets))
        case .stream(let source): .stream(UnmeasuredSource(source))
        }
    }
}

/// Octets in memory, of a length that is not told.
private final class OctetSource: RequestBodySource {
    let length: Int64? = nil
    let canRewind = true
    private let octets: [UInt8]
    private let sent = Locked(0)

    init(_ octets: [UInt8]) { self.octets = octets }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        sent.withLock { sent in
            let piece = octets[sent...].prefix(buffer.count)
            guard !piece.isEmpty else { return .end }
            buffer.copyBytes(from: piece)
            sent += piece.count
            return .filled(piece.count)
        }
    }

    // There is always something ready.
    func whenReadable(_ wake: @escaping @Sendable () -> Void) {}

    func rewind() -> Bool {
        sent.withLock { $0 = 0 }
        return true
    }
}

/// A source whose length is not told.
private final class UnmeasuredSource: RequestBodySource {
    let length: Int64? = nil
    private let source: any RequestBodySource

    init(_ source: any RequestBodySource) { self.source = source }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { source.read(into: buffer) }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    var canRewind: Bool { source.canRewind }

    func rewind() -> Bool { source.rewind() }

    func letGo() { source.letGo() }
}
