internal import CHTTPDNSNghttp2

/// The server's end of one HTTP/2 connection, by libnghttp2. Confined to its connection's thread:
/// requests are answered one after another, in the order in which they are whole.
final class HTTP2Conversation {
    private let stream: LabStream
    private let connection: Int
    private let serverName: String?
    private let handler: (LabRequest) -> LabResponse
    private let arrived: (Int) -> Void
    private var raw: OpaquePointer?
    private var incoming: [Int32: Incoming] = [:]
    private var outgoing: [Int32: Outgoing] = [:]
    private var whole: [Int32] = []

    private struct Incoming {
        var fields: [LabField] = []
        var body: [UInt8] = []
    }

    private struct Outgoing {
        let body: [UInt8]
        /// What happens after the last octet.
        let end: End
        var sent = 0
    }

    private enum End {
        case finishes
        case resets
        case stalls
    }

    /// `arrived` is told the octets of each piece of a request. Nil when memory is short.
    init?(
        _ stream: LabStream, connection: Int, serverName: String?,
        handler: @escaping (LabRequest) -> LabResponse, arrived: @escaping (Int) -> Void
    ) {
        self.stream = stream
        self.connection = connection
        self.serverName = serverName
        self.handler = handler
        self.arrived = arrived
        guard let raw = openServerSession(Unmanaged.passUnretained(self).toOpaque()) else {
            return nil
        }
        self.raw = raw
    }

    deinit { nghttp2_session_del(raw) }

    /// Serves until one side has ended.
    func hold() {
        guard flush() else { return }
        while let octets = stream.read() {
            guard nghttp2_session_mem_recv(raw, octets, octets.count) == octets.count else {
                return
            }
            while !whole.isEmpty {
                guard answer(whole.removeFirst()) else { return }
            }
            guard flush() else { return }
            if nghttp2_session_want_read(raw) == 0, nghttp2_session_want_write(raw) == 0 {
                return stream.close()
            }
        }
    }

    private func flush() -> Bool {
        while true {
            var octets: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(raw, &octets)
            guard count > 0, let octets else { return count == 0 }
            guard stream.write(Array(UnsafeBufferPointer(start: octets, count: count))) else {
                return false
            }
        }
    }

    /// False when the connection is to end at once.
    private func answer(_ number: Int32) -> Bool {
        guard let request = incoming.removeValue(forKey: number).map(request) else { return true }
        let response = handler(request)
        guard stream.pause(milliseconds: response.delayMilliseconds) else { return false }
        switch response.conduct {
        case .neverAnswers: return true
        case .closesUnanswered: return false
        case .resetsUnanswered: return reset(number, NGHTTP2_INTERNAL_ERROR)
        case .refusesStream: return reset(number, NGHTTP2_REFUSED_STREAM)
        case .leavesUnprocessed:
            return nghttp2_submit_goaway(
                raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), max(0, number - 2),
                NGHTTP2_NO_ERROR.rawValue, nil, 0) == 0
        case .closes(let octets), .resets(let octets):
            return submit(response, number, Outgoing(body: response.limited(octets), end: .resets))
        case .stalls(let octets):
            return submit(response, number, Outgoing(body: response.limited(octets), end: .stalls))
        case .answers, .writes, .trickles:
            let body = request.method == "HEAD" ? [] : response.body
            return submit(response, number, Outgoing(body: body, end: .finishes))
        }
    }

    private func reset(_ number: Int32, _ code: nghttp2_error_code) -> Bool {
        nghttp2_submit_rst_stream(
            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), number, code.rawValue) == 0
    }

    private func request(_ incoming: Incoming) -> LabRequest {
        let pseudo = { (name: String) in incoming.fields.first { $0.name == name }?.value ?? "" }
        let authority = LabField("host", pseudo(":authority"))
        return LabRequest(
            connection: connection, serverName: serverName, isSecure: true,
            method: pseudo(":method"), target: pseudo(":path"),
            fields: [authority] + incoming.fields.filter { !$0.name.hasPrefix(":") },
            body: incoming.body)
    }

    /// Source: RFC 9113 §8.2 (names in lower case, none that are about the connection).
    private func submit(_ response: LabResponse, _ number: Int32, _ sending: Outgoing) -> Bool {
        let aboutConnection = ["connection", "transfer-encoding", "keep-alive", "upgrade"]
        var pairs = [(":status", String(response.status))]
        pairs += response.fields.map { ($0.name.lowercased(), $0.value) }
            .filter { !aboutConnection.contains($0.0) }
        if response.framing == .length {
            pairs.append(("content-length", String(response.body.count)))
        }
        outgoing[number] = sending
        var provider = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: nil), read_callback: readBody)
        return withFields(pairs) { fields in
            nghttp2_submit_response(raw, number, fields.baseAddress, fields.count, &provider) == 0
        }
    }
}

// What the callbacks ask for.
extension HTTP2Conversation {
    fileprivate func got(field: LabField, on number: Int32) {
        arrived(field.name.utf8.count + field.value.utf8.count)
        incoming[number, default: Incoming()].fields.append(field)
    }

    fileprivate func got(body: UnsafeBufferPointer<UInt8>, on number: Int32) {
        arrived(body.count)
        incoming[number, default: Incoming()].body += body
    }

    fileprivate func ended(_ number: Int32) { whole.append(number) }

    fileprivate func closed(_ number: Int32) {
        incoming[number] = nil
        outgoing[number] = nil
        whole.removeAll { $0 == number }
    }

    /// Fills the buffer; the flags say when that was all. Negative: an error of libnghttp2.
    fileprivate func fill(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, of number: Int32, flags: inout UInt32
    ) -> Int {
        guard var sending = outgoing[number] else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let piece = sending.body[sending.sent...].prefix(buffer.count)
        for (index, octet) in piece.enumerated() { buffer[index] = octet }
        sending.sent += piece.count
        outgoing[number] = sending
        guard sending.sent == sending.body.count else { return piece.count }
        switch sending.end {
        case .finishes:
            flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
            return piece.count
        case .stalls:
            return piece.isEmpty ? Int(NGHTTP2_ERR_DEFERRED.rawValue) : piece.count
        case .resets:
            return piece.isEmpty
                ? Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) : piece.count
        }
    }
}

extension LabResponse {
    fileprivate func limited(_ octets: Int) -> [UInt8] { Array(body.prefix(max(0, octets))) }
}

/// The fields in libnghttp2's form for one call, which copies them.
private func withFields(
    _ pairs: [(String, String)], _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Bool
) -> Bool {
    var octets: [UInt8] = []
    for (name, value) in pairs { octets += Array(name.utf8) + Array(value.utf8) }
    return octets.withUnsafeMutableBufferPointer { text in
        guard var at = text.baseAddress else { return false }
        let fields = pairs.map { name, value in
            let field = nghttp2_nv(
                name: at, value: at + name.utf8.count, namelen: name.utf8.count,
                valuelen: value.utf8.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            at += name.utf8.count + value.utf8.count
            return field
        }
        return fields.withUnsafeBufferPointer(body)
    }
}

/// A server's session that tells its events to the ``HTTP2Conversation`` at `owner`, its settings
/// queued. Nil when memory is short.
private func openServerSession(_ owner: UnsafeMutableRawPointer) -> OpaquePointer? {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_on_header_callback(callbacks, gotField)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, gotBody)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, gotFrame)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closedStream)
    var session: OpaquePointer?
    guard nghttp2_session_server_new(&session, callbacks, owner) == 0, let session else {
        return nil
    }
    guard nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil, 0) == 0 else {
        nghttp2_session_del(session)
        return nil
    }
    return session
}

// Callbacks: called on the connection's thread inside `nghttp2_session_mem_recv` and `_mem_send`. They
// must not delete the session.

private func conversation(_ owner: UnsafeMutableRawPointer?) -> HTTP2Conversation? {
    owner.map { Unmanaged<HTTP2Conversation>.fromOpaque($0).takeUnretainedValue() }
}

private func text(_ octets: UnsafePointer<UInt8>?, _ count: Int) -> String {
    String(decoding: UnsafeBufferPointer(start: octets, count: count), as: UTF8.self)
}

private func gotField(
    _ raw: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
    _ name: UnsafePointer<UInt8>?, _ nameCount: Int, _ value: UnsafePointer<UInt8>?,
    _ valueCount: Int, _ flags: UInt8, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame else { return 0 }
    let field = LabField(text(name, nameCount), text(value, valueCount))
    conversation(owner)?.got(field: field, on: chttpdns_frame_stream(frame))
    return 0
}

private func gotBody(
    _ raw: OpaquePointer?, _ flags: UInt8, _ stream: Int32, _ octets: UnsafePointer<UInt8>?,
    _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    let body = UnsafeBufferPointer(start: octets, count: count)
    conversation(owner)?.got(body: body, on: stream)
    return 0
}

private func gotFrame(
    _ raw: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
    _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame else { return 0 }
    let type = chttpdns_frame_type(frame)
    let isLast = chttpdns_frame_flags(frame) & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    guard isLast, type <= UInt8(NGHTTP2_HEADERS.rawValue) else { return 0 }
    conversation(owner)?.ended(chttpdns_frame_stream(frame))
    return 0
}

private func closedStream(
    _ raw: OpaquePointer?, _ stream: Int32, _ code: UInt32, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    conversation(owner)?.closed(stream)
    return 0
}

private func readBody(
    _ raw: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?,
    _ capacity: Int, _ flags: UnsafeMutablePointer<UInt32>?,
    _ source: UnsafeMutablePointer<nghttp2_data_source>?, _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let flags, let conversation = conversation(owner) else {
        return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
    }
    return conversation.fill(
        UnsafeMutableBufferPointer(start: buffer, count: capacity), of: stream,
        flags: &flags.pointee)
}
