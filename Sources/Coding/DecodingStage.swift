internal import CHTTPDNSCoding

/// One coding of a body, undone by its library.
final class DecodingStage {
    struct Step {
        var taken = 0
        var made = 0
        /// Something was taken or made, or the state changed: another call may do more.
        var isMoving = false
    }

    private enum State {
        case fresh
        case running
        /// A member or frame is whole; another may follow.
        case between
        /// The coding is over: padding only.
        case over
    }

    let coding: ContentCoding
    private var state = State.fresh
    private var decoder: OpaquePointer?
    /// Octets that tell what follows, held until there are enough of them to tell.
    private var opening: [UInt8] = []
    /// What an earlier stage has made, for stages that read from another.
    private var store: [UInt8] = []
    private var used = 0

    init(_ coding: ContentCoding) { self.coding = coding }

    deinit { httpdns_decoder_free(decoder) }

    var isWhole: Bool {
        switch state {
        case .fresh: opening.isEmpty
        case .running: false
        // An octet that might have begun another member began none.
        case .between: opening.isEmpty
        case .over: true
        }
    }

    func stepFromStore(into output: UnsafeMutableRawBufferPointer) throws(CodingFault) -> Step {
        let result: Result<Step, CodingFault> = store.withUnsafeBytes { octets in
            do throws(CodingFault) {
                return .success(
                    try self.step(UnsafeRawBufferPointer(rebasing: octets[used...]), into: output))
            } catch { return .failure(error) }
        }
        let step = try result.get()
        used += step.taken
        return step
    }

    /// Replaces the store, which is used up, by what `read` puts into its room.
    func refill(
        _ read: (UnsafeMutableRawBufferPointer) throws(CodingFault) -> Int
    ) throws(CodingFault) -> Int {
        var fault: CodingFault?
        store = [UInt8](unsafeUninitializedCapacity: DecodingStage.storeOctets) { room, count in
            do throws(CodingFault) { count = try read(UnsafeMutableRawBufferPointer(room)) } catch {
                fault = error
            }
        }
        used = 0
        if let fault { throw fault }
        return store.count
    }

    func step(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingFault) -> Step {
        switch state {
        case .fresh: return try begin(input)
        case .running: return try run(input, into: output)
        case .between: return try goOn(input)
        case .over:
            guard input.allSatisfy({ $0 == 0 }) else { throw .trailing(coding) }
            return Step(taken: input.count)
        }
    }

    private func begin(_ input: UnsafeRawBufferPointer) throws(CodingFault) -> Step {
        let needed = coding == .deflate ? DecodingStage.zlibOpening : 1
        let step = gather(input, upTo: needed)
        guard opening.count >= needed else { return step }
        decoder = httpdns_decoder_new(library)
        guard decoder != nil else { throw .unavailable(coding) }
        state = .running
        return Step(taken: step.taken, isMoving: true)
    }

    private var library: httpdns_coding {
        switch coding {
        case .gzip: HTTPDNS_CODING_GZIP
        case .deflate: isWrapped ? HTTPDNS_CODING_ZLIB : HTTPDNS_CODING_RAW_DEFLATE
        case .br: HTTPDNS_CODING_BROTLI
        case .zstd: HTTPDNS_CODING_ZSTD
        }
    }

    /// Source: RFC 1950 §2.2: compression method 8, and a check that the two octets divide by 31.
    private var isWrapped: Bool {
        guard let first = opening.first, let second = opening.dropFirst().first else {
            return false
        }
        return first & 0x0F == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
    }

    private func run(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingFault) -> Step {
        if !opening.isEmpty {
            let held: Result<Step, CodingFault> = opening.withUnsafeBytes { octets in
                do throws(CodingFault) {
                    return .success(try decode(octets, into: output))
                } catch { return .failure(error) }
            }
            let step = try held.get()
            opening.removeFirst(step.taken)
            return Step(made: step.made, isMoving: step.taken > 0 || step.isMoving)
        }
        return try decode(input, into: output)
    }

    private func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingFault) -> Step {
        var step = Step()
        let outcome = httpdns_decoder_step(
            decoder, input.baseAddress?.assumingMemoryBound(to: UInt8.self), input.count,
            &step.taken, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count,
            &step.made)
        switch outcome {
        case HTTPDNS_DECODER_HUNGRY:
            // Input that is left, and nothing done: no decoder of ours does that, and it would not end.
            guard step.taken > 0 || input.isEmpty else { throw .broken(coding) }
            step.isMoving = step.taken < input.count
        case HTTPDNS_DECODER_FULL: step.isMoving = true
        case HTTPDNS_DECODER_ENDED:
            step.isMoving = true
            state = coding == .gzip || coding == .zstd ? .between : .over
        default: throw .broken(coding)
        }
        return step
    }

    /// Looks whether another member follows, or padding.
    private func goOn(_ input: UnsafeRawBufferPointer) throws(CodingFault) -> Step {
        guard !input.isEmpty || !opening.isEmpty else { return Step() }
        let step = gather(input, upTo: 1)
        if opening == [0] {
            opening = []
            state = .over
        } else {
            guard httpdns_decoder_restart(decoder) else { throw .broken(coding) }
            state = .running
        }
        return Step(taken: step.taken, isMoving: true)
    }

    private func gather(_ input: UnsafeRawBufferPointer, upTo count: Int) -> Step {
        let fresh = input.prefix(max(0, count - opening.count))
        opening.append(contentsOf: fresh)
        return Step(taken: fresh.count, isMoving: !fresh.isEmpty)
    }

    /// Source: RFC 1950 §2.2: two octets of head.
    private static let zlibOpening = 2
    /// Because: what libcurl hands over at once; a smaller store would only make more calls.
    private static let storeOctets = 16 * 1_024
}
