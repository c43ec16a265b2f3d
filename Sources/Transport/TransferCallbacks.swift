internal import CHTTPDNSCurl
internal import HTTPDNSNames

/// The functions that libcurl calls during a transfer.
///
/// All are called on the engine's thread, inside a libcurl call of the engine, with an
/// ``EasyHandle``, whose ``ActiveTransfer`` the engine keeps alive while libcurl has the handle. None
/// may block, add, remove or free a handle.
enum TransferCallbacks {
    static func all(withTLS isTLS: Bool) -> httpdns_curl_callbacks {
        httpdns_curl_callbacks(
            body: takeBody, header: takeHeadLine, read: fillUpload, seek: rewindUpload,
            open_socket: openSocket, resolve: refuseToResolve, before_request: clearRequest,
            tls_context: isTLS ? armTLS : nil, log: readLog)
    }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> ActiveTransfer? {
    guard let context else { return nil }
    return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
}

/// Called with each piece of the decoded body; answers with the octets taken.
private func takeBody(
    _ octets: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = transfer(context) else { return 0 }
    // libcurl passes a size of 1, and at most CURL_MAX_WRITE_SIZE octets.
    let buffer = UnsafeRawBufferPointer(start: octets, count: size &* count)
    return switch transfer.received(body: buffer) {
    case .taken: buffer.count
    case .pause: httpdns_curl_pause_body
    // Any other number than the count ends the transfer; a count of 0 cannot.
    case .end: buffer.isEmpty ? 1 : 0
    }
}

/// Called with each line of each head and of the trailers.
private func takeHeadLine(
    _ octets: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = transfer(context) else { return 0 }
    let buffer = UnsafeRawBufferPointer(start: octets, count: size &* count)
    guard transfer.received(headLine: buffer) else { return buffer.isEmpty ? 1 : 0 }
    return buffer.count
}

/// Called when the connection takes more of the request body.
private func fillUpload(
    _ octets: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = transfer(context) else { return httpdns_curl_abort_read }
    return transfer.fill(
        UnsafeMutableRawBufferPointer(start: octets, count: size &* count))
}

/// Called when libcurl repeats a request on a fresh connection.
private func rewindUpload(
    _ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32
) -> Int32 {
    guard origin == SEEK_SET, let transfer = transfer(context), transfer.rewind(to: Int64(offset))
    else { return CURL_SEEKFUNC_FAIL }
    return CURL_SEEKFUNC_OK
}

/// Called before each connection attempt. Refuses an address that the route does not name: the attack
/// is any way, known or not, by which libcurl would come to another address.
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let transfer = transfer(context), let address else { return httpdns_curl_no_socket }
    let facts = httpdns_curl_address_of(address)
    let octets = withUnsafeBytes(of: facts.octets) { Array($0.prefix(facts.count)) }
    guard let planned = transfer.permits(octets, port: facts.port) else {
        return httpdns_curl_no_socket
    }
    let socket = httpdns_curl_open_socket(address, planned.zone)
    transfer.opened(socket, to: planned)
    return socket
}

/// Called when libcurl would resolve a name: never wanted, since addresses come with the route.
private func refuseToResolve(
    _ state: UnsafeMutableRawPointer?, _ reserved: UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    1
}

/// Called once a connection, before its TLS handshake.
private func armTLS(
    _ easy: UnsafeMutableRawPointer?, _ tlsContext: UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let tlsContext, let transfer = transfer(context), transfer.arm(tlsContext: tlsContext)
    else { return CURLE_ABORTED_BY_CALLBACK }
    return CURLE_OK
}

/// Called before every request, on fresh and on reused connections.
private func clearRequest(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?,
    _ local: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let remote, let local, let transfer = transfer(context) else {
        return CURL_PREREQFUNC_ABORT
    }
    let ends = httpdns_curl_ends_of(remote, remotePort, local, localPort)
    guard transfer.clear(ConnectionEnds(ends)) else { return CURL_PREREQFUNC_ABORT }
    return CURL_PREREQFUNC_OK
}

/// Called with each line of libcurl's log, and all octets that pass, while it is wanted
/// (``EasyHandle/hear(_:)``). That a stream was refused is told
/// nowhere else: a word that it no longer says costs a repeat, and never makes one; see ``RefusalLog``.
/// Nor is what came behind a response; see ``ExcessLog``.
private func readLog(
    _ easy: UnsafeMutableRawPointer?, _ kind: curl_infotype,
    _ octets: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard kind == CURLINFO_TEXT, let octets, let transfer = transfer(context) else { return 0 }
    transfer.read(log: UnsafeRawBufferPointer(start: octets, count: count))
    return 0
}
