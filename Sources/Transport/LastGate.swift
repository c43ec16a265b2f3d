internal import CHTTPDNSCurl
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

// What stands between libcurl and the network. All run on the engine's thread, inside a libcurl call.
extension ActiveTransfer {
    /// The second assert on where we connect: an address that is not of the route is refused here even
    /// if libcurl came by it.
    func permits(_ octets: [UInt8], port: UInt16) -> IPAddress? {
        isMovingOn = passage != nil
        isSecuring = false
        return planned(octets, port: port)?.address
    }

    /// A connection to that address is being made.
    func opened(_ socket: Int32, to address: IPAddress) {
        guard socket >= 0 else { return }
        openedSockets.append(socket)
        dials(Endpoint(address: address, port: request.route.port), on: socket)
    }

    func arm(tlsContext: UnsafeMutableRawPointer) -> Bool {
        heard()
        isSecuring = true
        guard let verifier = request.verifier else { return false }
        let verdict = Locked<TrustFailure?>(nil)
        self.verdict = verdict
        let scope = ResumptionScope(port: request.origin.port, network: route.network)
        let isArmed = verifier.arm(
            sslContext: tlsContext, for: request.origin.host, resuming: scope
        ) { result in
            if case .failure(let refusal) = result { verdict.withLock { $0 = refusal } }
        }
        if !isArmed {
            record(.unavailable("the verifier could not take over the certificate check"))
        }
        return isArmed
    }

    /// The last gate, before every request, on reused connections too: true lets the request out.
    func clear(_ ends: ConnectionEnds) -> Bool {
        isCleared = false
        guard !control.isCancelled else { return false }
        guard let remote = planned(ends.remote, port: ends.raw.remote_port) else {
            record(.unexpected("the connection leads to \(ends.remote), which is not of the route"))
            return false
        }
        let ssl = request.origin.scheme == .https ? httpdns_curl_get_ssl(easy.raw) : nil
        let isHTTP2 = ssl.map { httpdns_curl_is_http2($0) } ?? false
        head.isCarriedByHTTP2 = isHTTP2
        let opened = openedSockets
        openedSockets = []
        guard isHTTP2 || isFit(ends, opened, ssl), mayGoOut(overHTTP2: isHTTP2) else {
            return false
        }
        var facts = ConnectionFacts(remote: remote, isReused: isReused)
        facts.localPort = Port(ends.raw.local_port)
        var peer: VerifiedPeer?
        if request.origin.scheme == .https {
            do throws(TransportFailure) { peer = try proof(over: ssl, &facts) } catch {
                record(error)
                return false
            }
        }
        isCleared = true
        if !facts.isReused { facts.passedOver = takePassedOver(but: remote) }
        route.connecting = nil
        let word = hearing == .needed ? farewell.map(goAways.join) : nil
        leave()
        passage = Passage(
            remote: remote, wasKept: facts.isReused, isResumed: facts.isResumed,
            isOverHTTP2: isHTTP2, word: word)
        isMovingOn = false
        refusals.restart()
        heard()
        observer.verified(peer, connection: facts)
        return !control.isCancelled
    }

    private func proof(
        over ssl: UnsafeMutableRawPointer?, _ facts: inout ConnectionFacts
    ) throws(TransportFailure) -> VerifiedPeer {
        guard let ssl, let verifier = request.verifier else {
            throw .unexpected("the connection has no TLS session to ask for a proof")
        }
        let peer: VerifiedPeer
        do throws(TrustFailure) {
            peer = try verifier.proof(ssl: ssl, for: request.origin.host)
        } catch { throw .untrusted(error) }
        farewell = verifier.farewell(ssl: ssl)
        // Another request of this connection finds it kept, and needs to hear of it no more.
        if hearing != .none, !facts.isReused { easy.hear(true) }
        if hasBody { sendsBeforeReading(over: ssl) }
        facts.isResumed = verifier.isResumed(ssl: ssl)
        facts.tlsVersion = httpdns_curl_tls_version(ssl).map { String(cString: $0) }
        return peer
    }

    /// Whether the connection is fresh, or open and silent since the answer before: what came meanwhile
    /// would pass for the answer to this request. Source: RFC 9112 §9.2, §9.5, §11.1. The attack:
    /// response splitting; the fault: a 408 for a connection that is given up, a body behind an answer
    /// that has none.
    ///
    /// Whatever waits, be it a TLS message that says nothing to the request: a fresh connection is
    /// right, and to tell them apart would take reading them. Called for HTTP/1.1 alone.
    ///
    /// - Parameter opened: the sockets that were opened for it; none: it was kept.
    private func isFit(
        _ ends: ConnectionEnds, _ opened: [Int32], _ ssl: UnsafeMutableRawPointer?
    ) -> Bool {
        guard opened.isEmpty else {
            let socket = opened.last { socket in
                withUnsafePointer(to: ends.raw) { httpdns_curl_socket_has(socket, $0) }
            }
            sockets.note(socket, of: ends)
            return true
        }
        if let socket = sockets.socket(of: ends), httpdns_curl_socket_is_silent(socket),
            ssl.map({ !httpdns_curl_has_pending($0) }) ?? true
        {
            return true
        }
        isUnfit = true
        return false
    }

    /// After its connection was found unfit: true when the request may begin again on a fresh one, as if
    /// it had not begun. Nothing of it was sent there, and nobody was told.
    func mayBeginAnew(now: Monotonic) -> Bool {
        guard isUnfit, !control.isCancelled, failure == nil else { return false }
        isUnfit = false
        freshStarts += 1
        guard freshStarts <= ActiveTransfer.mostFreshStarts else {
            record(
                .malformedResponse(
                    "the peer sends before each request what would pass for its answer"))
            return false
        }
        guard upload.beginAnew() else {
            record(loss == nil ? .bodySourceFailed("it could not be sent again") : lost)
            return false
        }
        // It was allowed; what goes out now is the first of another connection.
        if mustBeHTTP11 { leave() }
        timers.connectAnew(now: now)
        return true
    }

    /// Because: a challenge and its answer are two requests, each of which may find its connection
    /// unfit.
    private static let mostFreshStarts = 2

    /// libcurl brings a request a second time when it holds the first one for lost, whatever its method.
    private func mayGoOut(overHTTP2 isHTTP2: Bool) -> Bool {
        if isExpectationRefused {
            isExpectationRefused = false
            return true
        }
        guard let passage else { return true }
        isMovingOn = true
        // The attack: a stream that is ended by "use HTTP/1.1" in the midst of its response.
        // libcurl asks again, and hands the second response on behind what came of the first.
        guard !head.isComplete else {
            record(.connectionLost("the peer broke its response off", hadResponse: true))
            return false
        }
        guard let loss, observer.mayRepeat(after: loss, sentTo: passage.remote) else {
            record(lost)
            return false
        }
        // libcurl sends the fields of the body with it, and nothing of the body.
        if passage.isOverHTTP2, !isHTTP2, hasBody, upload.hasBegun {
            isUnfit = true
            mustBeHTTP11 = true
            return false
        }
        return true
    }

    private var lost: TransportFailure {
        let text = "the connection was given up before an octet of a response came"
        return loss.map { .requestLost($0, text) } ?? .connectionLost(text, hadResponse: false)
    }

    /// The endpoint of the route with this address; nil when we never meant to go there.
    private func planned(_ text: String, port: UInt16) -> Endpoint? {
        guard port == request.route.port.number else { return nil }
        // Mostly the first, and written as we write it.
        if text == route.firstAddress, let first = request.route.addresses.first {
            return Endpoint(address: first, port: request.route.port)
        }
        return (try? IPAddress(text)).flatMap { planned($0.octets, port: port) }
    }

    /// The endpoint of the route with these octets; nil when we never meant to go there.
    func planned(_ octets: [UInt8], port: UInt16) -> Endpoint? {
        guard port == request.route.port.number,
            let address = request.route.addresses.first(where: { $0.octets == octets })
        else { return nil }
        return Endpoint(address: address, port: request.route.port)
    }
}
