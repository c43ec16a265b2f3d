internal import CHTTPDNSCurl
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

// How a transfer ended, and what was seen of it.
extension ActiveTransfer {
    /// - Parameter isAlone: no other transfer can have caused it.
    func ending(_ code: CURLcode, isAlone: Bool) -> Ending {
        Ending(
            code: code,
            text: easy.explanation(of: code).replacing(
                route.name, with: (request.via?.proxy.host ?? request.origin.host).uriText),
            isWordless: !easy.hasWords, scheme: request.origin.scheme, isCleared: isCleared,
            hasHead: head.isComplete, isAlone: isAlone,
            mayBeCut: mayBeCut, loss: loss,
            isWithProxy: request.asksProxy && !isSecuring,
            proxyAnswer: request.via == nil ? 0 : easy.long(CURLINFO_HTTP_CONNECTCODE),
            refusal: verdict?.withLock { $0 }, host: request.origin.host)
    }

    /// What became of a request that was let out and has no response; nil where nothing better is
    /// known than that the connection broke.
    ///
    /// Source: curl 7.88 to 8.15, transfer.c, `Curl_retry_request`: a request goes out again by itself
    /// when its stream was refused, or when a kept connection gave no octet.
    var loss: RequestLoss? {
        guard let passage, !head.hasBegun else { return nil }
        let isUndone = passage.word?.leavesUndone(refusals.stream) ?? false
        if refusals.isRefused || isUndone || (isMovingOn && !passage.wasKept) {
            return .unprocessed
        }
        return passage.wasKept || refusals.hasGoAway ? .stale : nil
    }

    /// The body ended with a TLS connection whose end nobody can tell from one that was forced.
    var mayBeCut: Bool {
        request.origin.scheme == .https && request.method != .head && head.endsWithConnection
            && farewell?.isSaid != true
    }

    /// The address of the connection used last; nil when there was none.
    var remote: Endpoint? {
        guard let text = easy.text(CURLINFO_PRIMARY_IP), let address = try? IPAddress(text),
            let number = UInt16(exactly: easy.long(CURLINFO_PRIMARY_PORT)),
            let port = Port(number)
        else { return nil }
        return planned(address.octets, port: port.number)
    }

    /// What was seen of a request that was let out; nil where nothing was sent.
    var factsSoFar: TransferFacts? { passage == nil ? nil : facts() }

    func facts() -> TransferFacts {
        var facts = TransferFacts()
        facts.remote = passage?.remote ?? remote
        facts.isReused = isReused
        facts.isResumed = passage?.isResumed ?? false
        facts.connectedMilliseconds = milliseconds(CURLINFO_CONNECT_TIME_T)
        facts.securedMilliseconds = milliseconds(CURLINFO_APPCONNECT_TIME_T)
        // libcurl's time of it is set by the request, too.
        facts.firstByteMilliseconds =
            head.hasBegun ? milliseconds(CURLINFO_STARTTRANSFER_TIME_T) : nil
        facts.totalMilliseconds = milliseconds(CURLINFO_TOTAL_TIME_T) ?? 0
        facts.sentOctets = easy.offset(CURLINFO_SIZE_UPLOAD_T) + easy.long(CURLINFO_REQUEST_SIZE)
        facts.receivedOctets =
            easy.offset(CURLINFO_SIZE_DOWNLOAD_T) + easy.long(CURLINFO_HEADER_SIZE)
        if isReused {
            facts.connectedMilliseconds = nil
            facts.securedMilliseconds = nil
        }
        return facts
    }

    var isReused: Bool { easy.long(CURLINFO_NUM_CONNECTS) == 0 }

    /// Source: libcurl counts in microseconds; 0 is a step that did not happen.
    private func milliseconds(_ which: CURLINFO) -> Double? {
        let microseconds = easy.offset(which)
        return microseconds > 0 ? Double(microseconds) / 1_000 : nil
    }
}
