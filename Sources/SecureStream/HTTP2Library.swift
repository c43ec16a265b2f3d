internal import CHTTPDNSNghttp2

/// A client's session that tells its events to the ``HTTP2Session`` at `owner`, its first settings
/// queued. Nil when memory is short.
func openHTTP2Session(_ owner: UnsafeMutableRawPointer) -> OpaquePointer? {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_on_header_callback(callbacks, gotField)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, gotBody)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, gotFrame)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closedStream)
    var options: OpaquePointer?
    guard nghttp2_option_new(&options) == 0 else { return nil }
    defer { nghttp2_option_del(options) }
    nghttp2_option_set_max_outbound_ack(options, outboundAcknowledgements)
    nghttp2_option_set_no_closed_streams(options, 1)
    nghttp2_option_set_peer_max_concurrent_streams(options, UInt32(HTTP2Limits.maximumStreams))
    var session: OpaquePointer?
    guard nghttp2_session_client_new2(&session, callbacks, owner, options) == 0, let session
    else { return nil }
    let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
    var settings = [
        entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
        entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(HTTP2Limits.headOctets)),
    ]
    guard nghttp2_submit_settings(session, flags, &settings, settings.count) == 0,
        nghttp2_session_set_local_window_size(session, flags, 0, connectionWindowOctets) == 0
    else {
        nghttp2_session_del(session)
        return nil
    }
    return session
}

/// Because: a hundred of the longest messages; each stream has the protocol's own 65,535 octets, which
/// is one of them. Source: RFC 9113 §6.9.2.
private let connectionWindowOctets: Int32 = 8 * 1_024 * 1_024

/// How many acknowledgements of PING and SETTINGS may wait to be sent.
///
/// Because: an honest server has one or two under way; more is a flood that wants our memory.
private let outboundAcknowledgements = 64

private func entry(_ id: nghttp2_settings_id, _ value: UInt32) -> nghttp2_settings_entry {
    nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: value)
}

/// What every request of a connection says, in memory that stays where it is.
final class RequestFields {
    private let text: UnsafeMutablePointer<UInt8>
    private let fields: UnsafeMutablePointer<nghttp2_nv>
    private let count: Int
    private let isPost: Bool

    /// The field whose value differs from request to request is the last one.
    init(_ head: HTTP2Head) {
        isPost = head.isPost
        var pairs = [
            (":method", head.isPost ? "POST" : "GET"), (":scheme", "https"),
            (":authority", head.authority), ("accept", head.mediaType),
        ]
        if head.isPost {
            pairs.insert((":path", head.path), at: 3)
            pairs += [("content-type", head.mediaType), ("content-length", "")]
        } else {
            pairs.insert((":path", ""), at: 3)
        }
        count = pairs.count
        text = .allocate(capacity: pairs.reduce(1) { $0 + $1.0.utf8.count + $1.1.utf8.count })
        fields = .allocate(capacity: pairs.count)
        var at = text
        func placed(_ part: String) -> (UnsafeMutablePointer<UInt8>, Int) {
            let start = at
            for octet in part.utf8 {
                at.initialize(to: octet)
                at += 1
            }
            return (start, at - start)
        }
        let still =
            UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
            | UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        for (index, pair) in pairs.enumerated() {
            let name = placed(pair.0)
            let value = placed(pair.1)
            fields[index] = nghttp2_nv(
                name: name.0, value: value.0, namelen: name.1, valuelen: value.1, flags: still)
        }
    }

    deinit {
        fields.deallocate()
        text.deallocate()
    }

    /// The new stream's number; negative or 0 when there can be none.
    func submit(_ payload: [UInt8], to session: OpaquePointer, slot: Int) -> Int32 {
        let user = UnsafeMutableRawPointer(bitPattern: slot)
        guard isPost else {
            return payload.withUnsafeBufferPointer { path in
                fields[3] = variable(fields[3], path)
                return nghttp2_submit_request(session, nil, fields, count, nil, user)
            }
        }
        var digits = decimal(payload.count)
        return digits.withUTF8 { length in
            fields[count - 1] = variable(fields[count - 1], length)
            var provider = nghttp2_data_provider(
                source: nghttp2_data_source(ptr: user), read_callback: readBody)
            return nghttp2_submit_request(session, nil, fields, count, &provider, user)
        }
    }

    /// The value is copied by libnghttp2 during the call.
    private func variable(
        _ field: nghttp2_nv, _ value: UnsafeBufferPointer<UInt8>
    ) -> nghttp2_nv {
        var changed = field
        changed.value = UnsafeMutablePointer(mutating: value.baseAddress)
        changed.valuelen = value.count
        changed.flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
        return changed
    }

    private func decimal(_ number: Int) -> String { String(number) }
}

// Callbacks: called on the engine's thread inside `nghttp2_session_mem_recv` and `_mem_send`. They must
// not delete the session.

private func session(_ owner: UnsafeMutableRawPointer?) -> HTTP2Session? {
    owner.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
}

private func slot(_ raw: OpaquePointer?, _ stream: Int32) -> Int {
    guard stream > 0 else { return 0 }
    return Int(bitPattern: nghttp2_session_get_stream_user_data(raw, stream))
}

/// Refuses one stream, not the connection.
private let refuseStream = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue

private func gotField(
    _ raw: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
    _ name: UnsafePointer<UInt8>?, _ nameCount: Int, _ value: UnsafePointer<UInt8>?,
    _ valueCount: Int, _ flags: UInt8, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let session = session(owner) else { return 0 }
    let isTaken = session.gotField(
        slot(raw, chttpdns_frame_stream(frame)),
        UnsafeBufferPointer(start: name, count: nameCount),
        UnsafeBufferPointer(start: value, count: valueCount))
    return isTaken ? 0 : refuseStream
}

private func gotBody(
    _ raw: OpaquePointer?, _ flags: UInt8, _ stream: Int32, _ octets: UnsafePointer<UInt8>?,
    _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = session(owner) else { return 0 }
    let isTaken = session.gotBody(
        slot(raw, stream), UnsafeBufferPointer(start: octets, count: count))
    guard !isTaken else { return 0 }
    nghttp2_submit_rst_stream(
        raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_CANCEL.rawValue)
    return 0
}

private func gotFrame(
    _ raw: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?,
    _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let session = session(owner) else { return 0 }
    let isLast = chttpdns_frame_flags(frame) & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    let type = chttpdns_frame_type(frame)
    let ends = isLast && type <= UInt8(NGHTTP2_HEADERS.rawValue)
    session.gotFrame(
        type, isLast: ends, slot: ends ? slot(raw, chttpdns_frame_stream(frame)) : 0)
    return 0
}

private func closedStream(
    _ raw: OpaquePointer?, _ stream: Int32, _ code: UInt32, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    session(owner)?.closedStream(slot(raw, stream), code)
    return 0
}

private func readBody(
    _ raw: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?,
    _ capacity: Int, _ flags: UnsafeMutablePointer<UInt32>?,
    _ source: UnsafeMutablePointer<nghttp2_data_source>?, _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer, let flags, let source,
        let exchange = session(owner)?.exchange(Int(bitPattern: source.pointee.ptr))
    else { return Int(refuseStream) }
    let count = min(capacity, exchange.payload.count - exchange.sent)
    exchange.payload.withUnsafeBufferPointer { octets in
        guard let base = octets.baseAddress, count > 0 else { return }
        buffer.update(from: base + exchange.sent, count: count)
    }
    exchange.sent += count
    if exchange.sent == exchange.payload.count {
        flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
    }
    return count
}
