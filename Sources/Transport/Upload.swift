internal import HTTPDNSExchange

/// The request body on its way out, from octets in memory or from a source.
struct Upload {
    /// Set by a source that has nothing now, until it says otherwise.
    var isPending = false
    private(set) var isComplete: Bool
    /// Something was asked for.
    private(set) var hasBegun = false
    private let body: RequestBody
    private var position = 0
    private var sourceOctets: Int64 = 0

    /// What was asked for and given since the last rewind.
    var handedOctets: Int64 {
        if case .stream = body { sourceOctets } else { Int64(position) }
    }

    init(_ body: RequestBody) {
        self.body = body
        if case .none = body { isComplete = true } else { isComplete = false }
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        hasBegun = true
        switch body {
        case .none: return .end
        case .bytes(let octets):
            let rest = octets[position...].prefix(buffer.count)
            buffer.copyBytes(from: rest)
            position += rest.count
            isComplete = position == octets.count
            return rest.isEmpty ? .end : .filled(rest.count)
        case .stream(let source): return read(source, into: buffer)
        }
    }

    /// A source that breaks its promise of a length would break the framing of the request.
    private mutating func read(
        _ source: any RequestBodySource, into buffer: UnsafeMutableRawBufferPointer
    ) -> BodyRead {
        let outcome = source.read(into: buffer)
        switch outcome {
        case .filled(let count):
            guard count >= 1, count <= buffer.count else {
                return .failed("it filled \(count) octets of a buffer of \(buffer.count)")
            }
            sourceOctets += Int64(count)
            if let length = source.length, sourceOctets > length {
                return .failed("it gave more than the \(length) octets it promised")
            }
        case .pending: isPending = true
        case .end:
            isComplete = true
            if let length = source.length, sourceOctets != length {
                return .failed("it gave \(sourceOctets) of the \(length) octets it promised")
            }
        case .failed: break
        }
        return outcome
    }

    /// False when some of it was given away and cannot be given again.
    mutating func beginAnew() -> Bool {
        isPending = false
        guard hasBegun, handedOctets > 0 || isComplete else { return true }
        return rewind(to: 0)
    }

    /// False when the body cannot be sent again from there.
    mutating func rewind(to newPosition: Int64) -> Bool {
        switch body {
        case .none: return newPosition == 0
        case .bytes(let octets):
            guard let place = Int(exactly: newPosition), (0...octets.count).contains(place) else {
                return false
            }
            position = place
        case .stream(let source):
            guard newPosition == 0, source.rewind() else { return false }
            sourceOctets = 0
        }
        isComplete = false
        isPending = false
        return true
    }
}
