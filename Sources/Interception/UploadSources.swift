internal import Dispatch
internal import Foundation
internal import HTTPDNSExchange

/// Octets in memory as a body, without a copy of them.
final class DataSource: RequestBodySource, @unchecked Sendable {
    // Safety: `position` is touched on the transport's thread alone, the octets never change.
    private enum Octets {
        case whole(Data)
        case pieces(DispatchData)
    }

    private let octets: Octets
    private let count: Int
    private var position = 0

    init(_ data: Data) {
        octets = .whole(data)
        count = data.count
    }

    init(_ pieces: DispatchData) {
        octets = .pieces(pieces)
        count = pieces.count
    }

    var length: Int64? { Int64(count) }
    var canRewind: Bool { true }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {}

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let end = position + min(buffer.count, count - position)
        guard end > position else { return .end }
        switch octets {
        case .whole(let data):
            let start = data.startIndex
            data.copyBytes(
                to: buffer.bindMemory(to: UInt8.self), from: (start + position)..<(start + end))
        case .pieces(let pieces):
            pieces.copyBytes(to: buffer, from: position..<end)
        }
        defer { position = end }
        return .filled(end - position)
    }

    func rewind() -> Bool {
        position = 0
        return true
    }
}

/// Tells how much of a body has been taken for the wire.
final class CountingSource: RequestBodySource {
    private let source: any RequestBodySource
    private let onRead: @Sendable (Int) -> Void
    private let onRewind: @Sendable () -> Void

    /// - Parameters:
    ///   - onRead: told on the transport's thread how many octets were taken.
    ///   - onRewind: told on any thread that the body begins anew.
    init(
        _ source: any RequestBodySource, onRead: @escaping @Sendable (Int) -> Void,
        onRewind: @escaping @Sendable () -> Void
    ) {
        self.source = source
        self.onRead = onRead
        self.onRewind = onRewind
    }

    var length: Int64? { source.length }
    var canRewind: Bool { source.canRewind }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let outcome = source.read(into: buffer)
        if case .filled(let count) = outcome { onRead(count) }
        return outcome
    }

    func rewind() -> Bool {
        guard source.rewind() else { return false }
        onRewind()
        return true
    }

    func letGo() { source.letGo() }
}
