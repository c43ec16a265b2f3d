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
        return planned(octets, port: port)?.address
    }

    func arm(tlsContext: UnsafeMutableRawPointer) -> Bool {
        heard()
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
    func clear(address: UnsafePointer<CChar>, port: Int32) -> Bool {
        isCleared = false
        if heldHead != nil {
            // The answer to a challenge: another request, and no repeat of the one before.
            heldHead = nil
            leave()
            head = HeadReader(request)
        }
        guard !control.isCancelled else { return false }
        guard let number = UInt16(exactly: port), let remote = planned(address, port: number)
        else {
            let text = String(cString: address)
            record(.unexpected("the connection leads to \(text), which is not of the route"))
            return false
        }
        var facts = ConnectionFacts(remote: remote, isReused: isReused)
        guard mayGoOut() else { return false }
        var peer: VerifiedPeer?
        var word: GoAways.Word?
        if request.origin.scheme == .https {
            guard let ssl = httpdns_curl_get_ssl(easy.raw), let verifier = request.verifier else {
                record(.unexpected("the connection has no TLS session to ask for a proof"))
                return false
            }
            do { peer = try verifier.proof(ssl: ssl, for: request.origin.host) } catch {
                record(.untrusted(error))
                return false
            }
            farewell = verifier.farewell(ssl: ssl)
            if hearing == .needed { word = farewell.map(goAways.join) }
            // Another request of this connection finds it kept, and needs to hear of it no more.
            if hearing != .none, !facts.isReused { easy.hear(true) }
            if hasBody { sendsBeforeReading(over: ssl) }
            facts.isResumed = verifier.isResumed(ssl: ssl)
            facts.tlsVersion = httpdns_curl_tls_version(ssl).map { String(cString: $0) }
        }
        isCleared = true
        leave()
        passage = Passage(
            remote: remote, wasKept: facts.isReused, isResumed: facts.isResumed, word: word)
        isMovingOn = false
        refusals.restart()
        heard()
        observer.verified(peer, connection: facts)
        return !control.isCancelled
    }

    /// libcurl brings a request a second time when it holds the first one for lost, whatever its method.
    private func mayGoOut() -> Bool {
        if isExpectationRefused {
            isExpectationRefused = false
            return true
        }
        guard let passage, !head.isComplete else { return true }
        isMovingOn = true
        guard let loss, observer.mayRepeat(after: loss, sentTo: passage.remote) else {
            record(lost)
            return false
        }
        return true
    }

    private var lost: TransportFailure {
        let text = "the connection was given up before an octet of a response came"
        return loss.map { .requestLost($0, text) } ?? .connectionLost(text, hadResponse: false)
    }

    /// The endpoint of the route with this address; nil when we never meant to go there.
    private func planned(_ text: UnsafePointer<CChar>, port: UInt16) -> Endpoint? {
        guard port == request.route.port.number else { return nil }
        let text = String(cString: text)
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
