internal import CHTTPDNSCurl
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// How libcurl ended a transfer, and how far it had come.
struct Ending {
    let code: CURLcode
    /// libcurl's words, already fit for a log.
    let text: String
    /// The text is only the name of the code.
    let isWordless: Bool
    let scheme: Scheme
    /// The request was let out on a connection: on this one, or on a kept one that then died, after
    /// which libcurl tries again on a fresh one.
    let isCleared: Bool
    let hasHead: Bool
    /// No other transfer runs, which could have broken a connection that they share.
    let isAlone: Bool
    /// The body may go on behind where it was cut off.
    let mayBeCut: Bool
    /// What became of a request that was let out, where no octet of a response came.
    let loss: RequestLoss?
    /// The connection begins with a question to a proxy that speaks HTTP, and has not come to a
    /// handshake with the origin.
    let isWithProxy: Bool
    /// The status by which a proxy answered the request to connect; 0 for none.
    let proxyAnswer: Int64
    /// What the verifier said of the certificate, if it refused.
    let refusal: TrustFailure?
    let host: Host

    /// Nil for success. What our own callbacks recorded goes before this.
    var failure: TransportFailure? {
        if let refusal { return isCleared ? lost(refusal) : .untrusted(refusal) }
        if let fault = proxyFault { return fault }
        switch code {
        case CURLE_OK:
            guard hasHead else {
                return .malformedResponse("the connection gave no response head")
            }
            return mayBeCut ? cut : nil
        case CURLE_PROXY: return isCleared ? lost : .cannotConnect("the proxy: " + text)
        case CURLE_COULDNT_CONNECT: return isCleared ? lost : .cannotConnect(text)
        case CURLE_OPERATION_TIMEDOUT: return .timedOut(phase: isCleared ? .total : .connect)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return isCleared ? lost(secondOpinion) : .untrusted(secondOpinion)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            return isCleared ? lost : .handshakeFailed(handshakeText)
        case CURLE_HTTP2 where isHugeHead, CURLE_RECV_ERROR where isHugeHead || isHugeHeader:
            return .headTooLarge
        // The stream was ended without an error, and what came of the response is not handed on.
        // Source: curl 7.88, http2.c, `cf_h2_recv`.
        case CURLE_HTTP2_STREAM where isCleared && !hasHead && isWordless:
            return lost(Ending.droppedAnswer)
        // The peer spoke, and broke HTTP/2: no network is at fault.
        case CURLE_HTTP2 where isCleared && !hasHead && loss == nil,
            CURLE_HTTP2_STREAM
        where isCleared && !hasHead && loss != .unprocessed && hasBrokenHTTP2:
            return .malformedResponse(text)
        // A trailer line beyond libcurl's own limit. Source: curl 7.88, http_chunks.c (4 KiB).
        case CURLE_RECV_ERROR where hasHead && isBadChunking && text.hasPrefix("Out of memory"):
            return .headTooLarge
        case CURLE_RECV_ERROR where hasHead && isBadChunking: return .malformedResponse(text)
        // libcurl reads each field a second time, and blames its caller for one that it cannot read.
        // Source: curl 7.88, headers.c, `Curl_headers_push`.
        case CURLE_BAD_FUNCTION_ARGUMENT where isCleared:
            return .malformedResponse(isWordless ? "a header line is not a field" : text)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SSL_SHUTDOWN_FAILED:
            return broken
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
            return .malformedResponse(text)
        case CURLE_SEND_FAIL_REWIND where loss != nil: return lost
        case CURLE_SEND_FAIL_REWIND: return .bodySourceFailed("it could not be sent again: " + text)
        // libcurl's name for a header line beyond its own limit (100 KiB in 7.88).
        case CURLE_OUT_OF_MEMORY where isCleared && !hasHead: return .headTooLarge
        case Ending.tooLarge: return .headTooLarge
        default: return .unexpected("\(text) (libcurl code \(code.rawValue))")
        }
    }

    /// The connection ended, or broke HTTP, while the proxy was asked to connect: no octet has come to
    /// the origin, nor any of its.
    private var proxyFault: TransportFailure? {
        guard isWithProxy, !isCleared else { return nil }
        switch code {
        case CURLE_OK, CURLE_PROXY, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT,
            CURLE_ABORTED_BY_CALLBACK, CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
            return nil
        default: break
        }
        let asked = "when it was asked to connect"
        return switch proxyAnswer {
        case 300...: .cannotConnect("the proxy answered \(proxyAnswer) to the request to connect")
        // Source: curl 7.88, http_proxy.c, `recv_CONNECT_resp`: it reads one head.
        case 100..<200:
            .cannotConnect(
                "the proxy answered \(proxyAnswer) \(asked), and libcurl does not wait for the answer "
                    + "behind it")
        case _ where isHugeHeader:
            .cannotConnect("the proxy answered with too long a head \(asked) (\(text))")
        default:
            .cannotConnect(
                "the proxy closed the connection, or said what is not HTTP, \(asked) (\(text))")
        }
    }

    /// A line, or all of them, beyond libcurl's own limits.
    ///
    /// Source: curl 7.88, http_proxy.c (16 KiB a line), and Debian's 7.88.1, http.c (300 KiB in all).
    private var isHugeHeader: Bool {
        text.contains("response too large") || text.contains("Too large response headers")
    }

    /// The peer spoke, and broke the framing of the body. libcurl has no code for that, only words.
    ///
    /// Source: curl 7.88 and 8.5, transfer.c: "%s in chunked-encoding", "Failed reading the
    /// chunked-encoded stream"; the second with a code for faults of the caller.
    private var isBadChunking: Bool { text.contains("chunked-encod") }

    /// A stream was closed for a fault of the peer's, or one that it ascribes to us. With any other
    /// code it only gave up.
    ///
    /// Source: RFC 9113 §7; curl 7.88, http2.c: "HTTP/2 stream %u was not closed cleanly: %s (err %u)".
    private var hasBrokenHTTP2: Bool {
        ["PROTOCOL_ERROR", "FLOW_CONTROL_ERROR", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR"]
            .contains { text.contains($0) }
    }

    private static let droppedAnswer =
        "the peer ended the exchange before the request's body was out, and libcurl does not hand on "
        + "what it answered"

    /// Before the request went out, a broken connection means the peer could not be reached.
    private var broken: TransportFailure {
        if isCleared { return lost }
        return scheme == .https ? .handshakeFailed(handshakeText) : .cannotConnect(text)
    }

    /// Source: RFC 9112 §8, §9.8: an incomplete close leaves such a response incomplete.
    private var cut: TransportFailure {
        .connectionLost(
            "the connection ended without TLS's close_notify, and nothing else says where the body "
                + "ends", hadResponse: true)
    }

    private var handshakeText: String {
        LibraryWords.explained(text, LibraryWords.handshakes)
    }

    private var lost: TransportFailure {
        // With a response under way its words mean something else.
        guard !hasHead, scheme == .https else { return lost(text) }
        // What libcurl says of a socket that the peer has closed already.
        if text.hasPrefix("getpeername() failed") || text.hasSuffix("Connection reset by peer") {
            return lost(LibraryWords.hungUp)
        }
        return lost(LibraryWords.explained(text, LibraryWords.firstWords))
    }

    private func lost(_ text: String) -> TransportFailure {
        loss.map { .requestLost($0, text) } ?? .connectionLost(text, hadResponse: hasHead)
    }

    /// The peer of the fresh connection is not the origin; that of the kept one was, and may have acted
    /// on the request, so that it must not go out again by itself.
    private func lost(_ refusal: TrustFailure) -> TransportFailure {
        lost(
            "a kept connection died with the request on it, and the fresh one was refused: "
                + refusal.description)
    }

    /// libcurl itself refused a name that our verifier had accepted.
    private var secondOpinion: TrustFailure {
        var facts = TrustFailure.Facts(host: host)
        facts.detail = text
        return TrustFailure(code: .wrongName, facts: facts)
    }

    /// A head beyond libcurl's own limit over HTTP/2 (128 KiB in 7.88) breaks its connection, and is
    /// told to whoever reads it then.
    ///
    /// Source: curl 7.88, http2.c, `on_header`; nghttp2: NGHTTP2_ERR_CALLBACK_FAILURE is -902. Before a
    /// head nothing else there refuses what nghttp2 has taken.
    private var isHugeHead: Bool {
        isCleared && !hasHead && isAlone
            && text.contains("nghttp2_session_mem_recv() returned -902")
    }

    /// `CURLE_TOO_LARGE`, younger than the headers built with. Source: curl 8.6.0, curl.h.
    private static let tooLarge = CURLcode(rawValue: 100)
}
