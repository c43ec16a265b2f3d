internal import CHTTPDNSCurl
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// The libcurl multi handle: its connections, its name table, and what it waits for. Used on the
/// engine's thread only.
///
/// Driven by sockets (`curl_multi_socket_action`), so that a turn costs as much as is ready:
/// `curl_multi_perform` looks at all that is in flight, with a system call for each.
struct MultiHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer
    /// Told in libcurl's calls until the handle is freed.
    private let waits: MultiWaits

    /// Nil when memory is short.
    init?(perHost: Int?, wokenBy signal: WakeSignal) {
        guard let raw = httpdns_curl_multi_init() else { return nil }
        let waits = MultiWaits(signal)
        let context = Unmanaged.passUnretained(waits).toOpaque()
        guard httpdns_curl_multi_watch(raw, noteSocket, noteTimer, context) == CURLM_OK else {
            httpdns_curl_multi_cleanup(raw)
            return nil
        }
        self.raw = raw
        self.waits = waits
        if let perHost {
            httpdns_curl_multi_set_long(raw, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, perHost))
        }
        httpdns_curl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, MultiHandle.idleConnections)
    }

    deinit {
        // It calls back while it closes its connections.
        withExtendedLifetime(waits) { httpdns_curl_multi_cleanup(raw) }
    }

    /// Something was ready at the last look.
    var hasWork: Bool { !waits.ready.isEmpty }

    /// Sleeps until a socket is ready, libcurl or the caller has something due, or the signal comes.
    func linger(until due: Monotonic, now: Monotonic) {
        waits.sockets.wait(until: min(due, waits.due), now: now, &waits.ready)
    }

    /// Looks at the sockets without waiting.
    func look() { waits.sockets.wait(until: .zero, now: .zero, &waits.ready) }

    /// Lets libcurl go on with what is ready, and with what is due.
    ///
    /// - Parameters:
    ///   - hasLooked: set when libcurl was called: whatever for, it then goes on with all
    ///     that is due, too, and what was added is due at once. Source: curl 7.88, multi.c,
    ///     `multi_socket`.
    ///   - isRecordwise: read one record of TLS from each socket that is ready, and no more.
    func act(_ hasLooked: inout Bool, isRecordwise: Bool) -> CURLMcode {
        for socket in waits.takeReady() {
            hasLooked = true
            ReadAllowance.renew(isOneRecord: isRecordwise)
            let code = httpdns_curl_multi_act(raw, socket.socket, socket.asCurlSays)
            guard code == CURLM_OK else { return code }
        }
        guard waits.takeDue() else { return CURLM_OK }
        hasLooked = true
        ReadAllowance.renew(isOneRecord: isRecordwise)
        return httpdns_curl_multi_act(raw, httpdns_curl_timeout, 0)
    }

    /// Connections kept for reuse.
    ///
    /// Because: a quarter of the usual 1,024 descriptors of a process.
    private static let idleConnections = 256
}

/// What libcurl waits for, as it said last.
private final class MultiWaits {
    let sockets: PollSet
    /// What the last look found ready, and libcurl has not heard of.
    var ready: [PollSet.Ready] = []
    private var told: [PollSet.Ready] = []
    /// When libcurl wants to be called whatever its sockets say.
    private(set) var due = Monotonic.distantFuture
    private let clock = SystemMonotonicClock()

    init(_ signal: WakeSignal) { sockets = PollSet(signal) }

    /// In two arrays by turns: while one is gone through, the other has its memory.
    func takeReady() -> [PollSet.Ready] {
        told.removeAll(keepingCapacity: true)
        swap(&told, &ready)
        return told
    }

    func takeDue() -> Bool {
        guard due == .zero || (due != .distantFuture && due <= clock.now()) else { return false }
        due = .distantFuture
        return true
    }

    func note(_ socket: Int32, _ what: Int32) {
        switch what {
        case CURL_POLL_REMOVE: sockets.forget(socket)
        default:
            sockets.watch(
                socket, forReading: what & CURL_POLL_IN != 0, forWriting: what & CURL_POLL_OUT != 0)
        }
    }

    /// Source: curl's documentation of CURLMOPT_TIMERFUNCTION: 0 is at once, -1 is never.
    func note(timer milliseconds: Int) {
        if milliseconds < 0 {
            due = .distantFuture
        } else if milliseconds == 0 {
            due = .zero
        } else {
            due = clock.now().adding(milliseconds: Int64(milliseconds))
        }
    }
}

extension PollSet.Ready {
    /// As libcurl itself reads what `poll` says. Source: curl 7.88, select.c, `Curl_socket_check`.
    fileprivate var asCurlSays: Int32 {
        (isReadable ? CURL_CSELECT_IN : 0) | (isWritable ? CURL_CSELECT_OUT : 0)
            | (isBroken ? CURL_CSELECT_ERR : 0)
    }
}

/// Called on the engine's thread, inside a call on the multi handle or on one of its easy handles.
private func noteSocket(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32,
    _ context: UnsafeMutableRawPointer?, _ own: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<MultiWaits>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.note(socket, what) }
    // libcurl's own handles, by which it closes what it kept, have no context.
    if what == CURL_POLL_REMOVE, let easy, let handle = httpdns_curl_context(easy) {
        Unmanaged<EasyHandle>.fromOpaque(handle)._withUnsafeGuaranteedRef {
            $0.transfer?.closedSocket()
        }
    }
    return 0
}

/// Called as above.
private func noteTimer(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<MultiWaits>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.note(timer: milliseconds)
    }
    return 0
}
