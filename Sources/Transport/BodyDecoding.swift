internal import HTTPDNSCoding
internal import HTTPDNSExchange

/// The coded body of one response, undone between libcurl and the observer.
///
/// libcurl could do it, and would take a body that ends in the middle of its coding for a whole one
/// (measured: 7.88), and several members of gzip for an error; and what it makes of one piece comes
/// all at once, where here a pause holds in the middle of it.
///
/// A piece of which something is left when the observer pauses is not taken: libcurl keeps it and
/// offers it again, and ``held`` says how much of it was read before.
final class BodyDecoding {
    private let codings: Result<BodyDecoder, CodingFault>
    private var held = 0
    private let room: UnsafeMutableRawBufferPointer
    /// Octets of the body before decoding.
    private(set) var wireOctets: Int64 = 0

    /// Nil for a body without codings.
    init?(_ fields: HTTPFields) {
        guard fields.contains("Content-Encoding") else { return nil }
        do throws(CodingFault) {
            let list = try ContentCoding.list(of: fields.all("Content-Encoding"))
            guard !list.isEmpty else { return nil }
            codings = .success(try BodyDecoder(list))
        } catch {
            // Told with the first octet: a response to HEAD has none.
            codings = .failure(error)
        }
        room = .allocate(byteCount: BodyDecoding.roomOctets, alignment: 16)
    }

    deinit { room.deallocate() }

    /// - Parameter deliver: `pause` means taken, and no more of it for now.
    func take(
        _ offered: UnsafeRawBufferPointer,
        deliver: (UnsafeRawBufferPointer) -> ActiveTransfer.BodyReply
    ) throws(CodingFault) -> ActiveTransfer.BodyReply {
        let decoder = try codings.get()
        let skipped = min(held, offered.count)
        held -= skipped
        var rest = UnsafeRawBufferPointer(rebasing: offered[skipped...])
        while true {
            let made = try decoder.read(rest, into: room)
            wireOctets += Int64(decoder.taken)
            rest = UnsafeRawBufferPointer(rebasing: rest[decoder.taken...])
            if made == 0 { return .taken }
            switch deliver(UnsafeRawBufferPointer(rebasing: room[..<made])) {
            case .taken: continue
            case .pause:
                held = offered.count - rest.count
                return .pause
            case .end: return .end
            }
        }
    }

    /// Called when libcurl holds the body for whole; nil when its codings are, too.
    func finish() -> TransportFailure? {
        guard case .success(let decoder) = codings else { return nil }
        do throws(CodingFault) {
            try decoder.finish()
            return nil
        } catch { return BodyDecoding.failure(error) }
    }

    static func failure(_ fault: CodingFault) -> TransportFailure {
        .malformedResponse("the body cannot be read: " + fault.description)
    }

    /// Because: some pieces of libcurl's size, so that the observer is called less often.
    private static let roomOctets = 64 * 1_024
}
