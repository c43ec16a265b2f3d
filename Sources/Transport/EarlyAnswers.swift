internal import CHTTPDNSCurl
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

// A response over HTTP/2 that comes before the request's body is out. Source: RFC 9113 §8.1: the
// server may do so, and reset the stream without an error; the response must not be discarded for it.
//
// What libcurl 7.88 makes of it, by its source and as measured:
// - It throws away what it has not handed on of a response whose reset it reads at the same time:
//   where the whole response came with it, nothing is left.
// - It waits for ever when the stream is closed by what it sends itself.
// - It waits until the body is out when the response is whole and the peer reads no more.
extension ActiveTransfer {
    /// The first octets of the body leave with the head, before anything is read: what the peer
    /// then answers finds the stream ended on our side, as far as one flight goes.
    ///
    /// Called inside the last gate. libcurl otherwise reads first what has come for others of the
    /// connection, and writes in a later turn when only reading was asked of it in this one.
    func sendsBeforeReading(over ssl: UnsafeMutableRawPointer) {
        guard request.version == .http2, hasOctetsToSend, httpdns_curl_is_http2(ssl) else { return }
        // libcurl then takes the connection for ready to be read and written, whatever was said.
        _ = easy.pause(pauses | Int32(CURLPAUSE_RECV))
        withheld = ReadAllowance.withhold()
    }

    /// The body was asked for: everything may be read again.
    func readsAgain() {
        guard let withheld else { return }
        self.withheld = nil
        ReadAllowance.giveBack(withheld)
        _ = easy.pause(pauses)
    }

    /// libcurl will ask for the body before it waits for anything.
    private var hasOctetsToSend: Bool {
        guard !request.expectsContinue else { return false }
        return switch request.body {
        case .none: false
        case .bytes(let octets): !octets.isEmpty
        case .stream(let source): source.length != 0
        }
    }

    /// The response's head has come, over HTTP/2, to a request with a body: libcurl may not tell
    /// of the end.
    var mayEndUntold: Bool {
        hasBody && head.isOverHTTP2 && !isExpectationRefused
    }

    /// All octets of the response have come, whatever becomes of the request.
    var isWhole: Bool {
        guard head.isComplete, !isExpectationRefused else { return false }
        guard request.method != .head, !head.isBodiless else { return true }
        guard let length = head.contentLength else { return false }
        return length == decoding?.wireOctets ?? bodyOctets
    }

    /// libcurl has passed on all of the request.
    var isSent: Bool {
        upload.isComplete && easy.offset(CURLINFO_SIZE_UPLOAD_T) >= upload.handedOctets
    }

    /// What libcurl says ended the request and not the response, which is whole.
    func isWhole(despite code: CURLcode) -> Bool {
        guard hasBody, isCleared, isWhole else { return false }
        switch code {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND:
            return failure == nil
        case CURLE_ABORTED_BY_CALLBACK:
            if case .bodySourceFailed = failure { return true }
            return false
        default: return false
        }
    }

    /// Lets libcurl look at the stream though nothing came; what it said if that ended the exchange.
    func nudge() -> CURLcode {
        let code = easy.pause(pauses | Int32(CURLPAUSE_RECV))
        return code == CURLE_OK ? easy.pause(pauses) : code
    }
}

extension TransportRequest {
    /// The body goes out over HTTP/2 in more than one flight: meanwhile what comes is read in records,
    /// so that libcurl hands on what one has brought before it reads of a reset.
    var isLongUpload: Bool {
        guard mayHear else { return false }
        return switch body {
        case .none: false
        case .bytes(let octets): octets.count > TransportRequest.shortOctets
        case .stream(let source): source.length.map { $0 > TransportRequest.shortOctets } ?? true
        }
    }

    /// Because: one frame of HTTP/2, which nearly any window has room for.
    private static let shortOctets = 16_384
}

/// When a response that may have ended untold is looked after.
struct Attendance {
    private(set) var due = Monotonic.distantFuture
    private var milliseconds = Attendance.firstMilliseconds

    var isUnderWay: Bool { due != .distantFuture }

    mutating func begin(now: Monotonic) { due = now.adding(milliseconds: milliseconds) }

    mutating func goOn(now: Monotonic) {
        milliseconds = min(milliseconds * 2, Attendance.longestMilliseconds)
        due = now.adding(milliseconds: milliseconds)
    }

    /// Because: what libcurl tells by itself it tells in the turn that brought the response.
    private static let firstMilliseconds: Int64 = 10
    /// Because: a look costs some microseconds, and a response that streams for hours has one a second.
    private static let longestMilliseconds: Int64 = 1_000
}
