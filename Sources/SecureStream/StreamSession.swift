internal import HTTPDNSLookup

/// What is spoken on one secured connection: questions to octets, octets to replies. Does no I/O.
///
/// Confined to the engine's thread.
protocol StreamSession: AnyObject {
    /// How many more questions may go out now.
    var room: Int { get }
    /// How many are outstanding.
    var outstanding: Int { get }
    /// Replies until now.
    var answered: Int { get }
    /// The server takes no more questions.
    var isLeaving: Bool { get }
    /// The server has said which questions it has taken up: those must not be asked again.
    var isTold: Bool { get }

    /// Takes a question up; false when it cannot any more.
    func submit(_ exchange: StreamExchange) -> Bool
    /// Nobody waits for that question any more.
    func withdraw(_ exchange: StreamExchange)
    /// Reads what came; the text says what broke the protocol.
    func receive(_ octets: UnsafeRawBufferPointer) -> String?
    /// Adds what is to be sent, as far as there is space; the text says what broke.
    func fill(_ output: OutputBuffer) -> String?
    /// What has come to an end since the last call.
    func takeEnded() -> [EndedExchange]
    /// The connection is gone: what was outstanding.
    func surrender() -> [StreamExchange]
}

/// How an exchange ended.
struct EndedExchange {
    enum Ending {
        case replied
        case failed(StreamFailure)
        /// The server did not take it up.
        case refused
    }

    let exchange: StreamExchange
    let ending: Ending
}

/// Octets on their way out: many frames, few writes.
final class OutputBuffer {
    private let storage = UnsafeMutableRawBufferPointer.allocate(
        byteCount: OutputBuffer.capacity, alignment: 16)
    private var start = 0
    private var end = 0

    deinit { storage.deallocate() }

    var isEmpty: Bool { start == end }
    var count: Int { end - start }
    /// No more than one record is asked for at a time.
    var isFull: Bool { end - start >= OutputBuffer.recordOctets }
    /// What waits, up to one TLS record.
    var front: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: storage[start..<min(end, start + OutputBuffer.recordOctets)])
    }

    /// False when there is no space.
    func append(_ octets: UnsafeRawBufferPointer) -> Bool {
        if octets.count > OutputBuffer.capacity - end, start > 0 {
            storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<end]))
            end -= start
            start = 0
        }
        guard octets.count <= OutputBuffer.capacity - end else { return false }
        UnsafeMutableRawBufferPointer(rebasing: storage[end...]).copyMemory(from: octets)
        end += octets.count
        return true
    }

    func consume(_ count: Int) {
        start += count
        if start >= end {
            start = 0
            end = 0
        }
    }

    /// Source: RFC 8446 §5.1, the largest record.
    static let recordOctets = 16_384
    /// Because: a record that waits, and behind it the largest HTTP/2 frame or DNS message.
    static let capacity = 128 * 1_024
}
