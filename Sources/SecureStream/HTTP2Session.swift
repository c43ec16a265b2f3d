internal import CHTTPDNSNghttp2
internal import HTTPDNSLookup

/// One HTTP/2 connection's frames, by libnghttp2: each question is a stream. Confined to the engine's
/// thread.
///
/// Nothing of ours hangs on libnghttp2 by pointer: a stream's user data is the number of a slot.
final class HTTP2Session: StreamSession {
    private var raw: OpaquePointer?
    private let fields: RequestFields
    private var slots: [StreamExchange?] = [nil]
    private var freeSlots: [Int] = []
    private var ended: [EndedExchange] = []
    private var framesWithoutEnd = 0
    /// Frames of unknown types are told to nobody: their octets count.
    private var octetsWithoutEnd = 0
    private var hasSettings = false
    private(set) var outstanding = 0
    private(set) var answered = 0
    private(set) var isLeaving = false
    private(set) var isTold = false

    /// Nil when memory is short.
    init?(_ head: HTTP2Head) {
        fields = RequestFields(head)
        guard let raw = openHTTP2Session(Unmanaged.passUnretained(self).toOpaque()) else {
            return nil
        }
        self.raw = raw
    }

    deinit { if let raw { nghttp2_session_del(raw) } }

    var room: Int {
        guard let raw, !isLeaving else { return 0 }
        guard hasSettings else { return max(0, HTTP2Limits.streamsAtFirst - outstanding) }
        let allowed = nghttp2_session_get_remote_settings(
            raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        return max(0, min(Int(allowed), HTTP2Limits.maximumStreams) - outstanding)
    }

    func submit(_ exchange: StreamExchange) -> Bool {
        guard let raw, !isLeaving else { return false }
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            slots[slot] = exchange
        } else {
            slot = slots.count
            slots.append(exchange)
        }
        let stream = fields.submit(exchange.payload, to: raw, slot: slot)
        guard stream > 0 else {
            slots[slot] = nil
            freeSlots.append(slot)
            isLeaving = true
            return false
        }
        exchange.number = slot
        exchange.streamID = stream
        outstanding += 1
        return true
    }

    func withdraw(_ exchange: StreamExchange) {
        guard let raw, slots[exchange.number] === exchange else { return }
        // The slot stays taken, by nobody, until libnghttp2 has closed the stream.
        slots[exchange.number] = nil
        outstanding -= 1
        nghttp2_submit_rst_stream(
            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), exchange.streamID,
            NGHTTP2_CANCEL.rawValue)
    }

    func receive(_ octets: UnsafeRawBufferPointer) -> String? {
        guard let raw else { return "the HTTP/2 session is over" }
        octetsWithoutEnd += octets.count
        let count = nghttp2_session_mem_recv(
            raw, octets.bindMemory(to: UInt8.self).baseAddress, octets.count)
        if count < 0 { return HTTP2Session.words(Int32(clamping: count)) }
        if framesWithoutEnd > HTTP2Limits.framesWithoutEnd {
            return "\(framesWithoutEnd) HTTP/2 frames that end nothing"
        }
        let honest = (outstanding + 1) * (HTTP2Limits.headOctets + HTTP2Limits.bodyOctets)
        if octetsWithoutEnd > HTTP2Limits.octetsWithoutEnd + honest {
            return "\(octetsWithoutEnd) octets of HTTP/2 that end nothing"
        }
        return nil
    }

    func fill(_ output: OutputBuffer) -> String? {
        guard let raw else { return nil }
        while !output.isFull {
            var octets: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(raw, &octets)
            if count < 0 { return HTTP2Session.words(Int32(clamping: count)) }
            guard count > 0, let octets else { break }
            guard output.append(UnsafeRawBufferPointer(start: octets, count: count)) else {
                return "an HTTP/2 frame larger than any buffer"
            }
        }
        if output.isEmpty, nghttp2_session_want_read(raw) == 0,
            nghttp2_session_want_write(raw) == 0
        {
            return "the HTTP/2 connection was ended by its rules"
        }
        return nil
    }

    func takeEnded() -> [EndedExchange] {
        guard !ended.isEmpty else { return [] }
        defer { ended.removeAll(keepingCapacity: true) }
        return ended
    }

    func surrender() -> [StreamExchange] {
        if let raw { nghttp2_session_del(raw) }
        raw = nil
        defer { slots = [] }
        outstanding = 0
        return slots.compactMap { $0 }
    }

    private static func words(_ code: Int32) -> String {
        "HTTP/2: " + String(cString: nghttp2_strerror(code))
    }
}

// What libnghttp2 tells, on the engine's thread, inside `receive` or `fill`.
extension HTTP2Session {
    func exchange(_ slot: Int) -> StreamExchange? {
        slots.indices.contains(slot) ? slots[slot] : nil
    }

    /// False when the head is larger than any resolver's.
    func gotField(
        _ slot: Int, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let exchange = exchange(slot) else { return true }
        // Source: RFC 9113 §6.5.2: a field counts 32 octets besides its own.
        exchange.headOctets += name.count + value.count + 32
        guard exchange.headOctets <= HTTP2Limits.headOctets else {
            exchange.fault = "the HTTP header section is too large"
            return false
        }
        switch name.count {
        case 7 where name.spells(":status"):
            // libnghttp2 has checked that it is three digits.
            exchange.status = value.reduce(0) { $0 * 10 + Int($1 & 0xF) }
        case 12 where name.spells("content-type") && exchange.contentType == nil:
            exchange.contentType =
                value.spells(HTTP2Limits.usualType)
                ? HTTP2Limits.usualText : String(decoding: value, as: UTF8.self)
        case 3 where name.spells("age") && exchange.age == nil:
            exchange.age = String(decoding: value, as: UTF8.self)
        case 4 where exchange.keepsDate && name.spells("date") && exchange.date == nil:
            exchange.date = String(decoding: value, as: UTF8.self)
        default: break
        }
        return true
    }

    /// False, once, when the body is longer than any message.
    func gotBody(_ slot: Int, _ octets: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let exchange = exchange(slot), exchange.fault == nil else { return true }
        guard octets.count <= HTTP2Limits.bodyOctets - exchange.body.count else {
            exchange.fault = "the HTTP body is larger than any answer"
            return false
        }
        exchange.body.append(contentsOf: octets)
        return true
    }

    func gotFrame(_ type: UInt8, isLast: Bool, slot: Int) {
        framesWithoutEnd += 1
        switch type {
        case UInt8(NGHTTP2_SETTINGS.rawValue): hasSettings = true
        case UInt8(NGHTTP2_GOAWAY.rawValue):
            isLeaving = true
            isTold = true
        default: if isLast { exchange(slot)?.isComplete = true }
        }
    }

    func closedStream(_ slot: Int, _ code: UInt32) {
        guard slots.indices.contains(slot), slot > 0 else { return }
        defer { freeSlots.append(slot) }
        guard let exchange = slots[slot] else { return }
        slots[slot] = nil
        outstanding -= 1
        framesWithoutEnd = 0
        octetsWithoutEnd = 0
        ended.append(EndedExchange(exchange: exchange, ending: ending(exchange, code)))
    }

    private func ending(_ exchange: StreamExchange, _ code: UInt32) -> EndedExchange.Ending {
        if let fault = exchange.fault { return .failed(.query(.malformed(fault))) }
        if exchange.isComplete {
            answered += 1
            return .replied
        }
        switch code {
        case NGHTTP2_REFUSED_STREAM.rawValue: return .refused
        case NGHTTP2_HTTP_1_1_REQUIRED.rawValue: return .failed(.speaksNoHTTP2)
        default:
            let word = String(cString: nghttp2_http2_strerror(code))
            return .failed(.query(.unreachable("the server ended the HTTP/2 stream: \(word)")))
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    func spells(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}

enum HTTP2Limits {
    /// What may be outstanding before the server's settings are here. Source: RFC 9113 §6.5.2, which
    /// recommends that no server allow less.
    static let streamsAtFirst = 100
    /// Because: more than any lookup load of one process, and a bound on what one server can hold.
    static let maximumStreams = 4_096
    /// Because: resolvers send a handful of short fields; more is not from a resolver.
    static let headOctets = 16 * 1_024
    /// The longest message. Source: RFC 1035 §4.2.2, RFC 8484 §6.
    static let bodyOctets = 65_535
    /// Because: a reply takes two or three frames, an idle connection some pings an hour. Beyond that a
    /// peer only costs time (floods of PING, SETTINGS, PRIORITY, empty DATA).
    static let framesWithoutEnd = 10_000
    /// Besides what all outstanding questions may be answered with. Because: ten thousand frames of the
    /// usual small kinds, and so tens of thousands of the smallest.
    static let octetsWithoutEnd = 256 * 1_024
    static let usualType: StaticString = "application/dns-message"
    static let usualText = "application/dns-message"
}
