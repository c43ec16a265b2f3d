internal import HTTPDNSCapture
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

// Records
extension ClientConnection {
    func beginRecord(_ now: Monotonic) {
        guard !isRecording else { return }
        isRecording = true
        requestNumber += 1
        asked = Asked()
        excluded = []
        (resolution, resolutionFailure) = (nil, nil)
        record = ForwardProxyRecord()
        record.startedAt = Capture.now
        desk.count { counts in
            counts.requests += 1
        }
        record.number = desk.currentCounts.requests
        begunAt = now
    }

    func milliseconds() -> Double {
        Double(SystemMonotonicClock().now().nanoseconds &- begunAt.nanoseconds) / 1_000_000
    }

    /// Told once.
    func endRecord(_ reason: String? = nil, _ message: String? = nil) {
        guard isRecording else { return }
        isRecording = false
        if let reason {
            record.reason = reason
            record.message = message
        }
        record.totalMilliseconds = milliseconds()
        let record = record
        desk.count { counts in
            counts.octetsUp += record.octetsUp
            counts.octetsDown += record.octetsDown
            if record.kind == .refused { counts.refusals += 1 }
        }
        // The client's exchanges are recorded by the client.
        if record.kind != .exchange, let capture = desk.settings.capture {
            let seen = ForwardProxySight(
                host: asked.host, resolution: resolution, failure: resolutionFailure)
            CaptureRecord(record, seen).map { capture.add($0) }
        }
        desk.settings.observer?(.ended(record))
    }
}

// What the proxy says itself
extension ClientConnection {
    /// A response that is whole; the turn ends with it.
    func respond(
        _ status: Int, _ fields: HTTPFields, _ body: [UInt8], ends: Bool, _ now: Monotonic
    ) {
        record.status = status
        let keepsAlive = asked.keepsAlive && !ends
        let head = ResponseText.head(
            status, fields, .length(String(body.count)),
            ResponseText.Ending(keepsAlive: keepsAlive, isOld: asked.isOld))
        record.octetsDown += Int64(body.count)
        guard client.write(asked.isHead ? head : head + body) else { return abort() }
        endTurn(keepsAlive: keepsAlive, now)
    }

    func endTurn(keepsAlive: Bool, _ now: Monotonic) {
        endRecord()
        guard keepsAlive, !isStopping, !isClientEnded || !input.isEmpty else {
            return linger(now)
        }
        phase = .reading
        deadline = now.adding(desk.settings.limits.keepAlive)
    }

    func refuse(_ refusal: Refusal, _ now: Monotonic) {
        record.reason = refusal.reason
        record.message = refusal.text
        let (type, body) = ResponseText.page(refusal, asHTML: asked.wantsHTML)
        var fields = HTTPFields()
        // Tokens, numbers and words of ours: none can be refused.
        for (name, value) in [
            ("Content-Type", type), ("Proxy-Status", refusal.proxyStatus),
            ("Httpdns-Reason", refusal.reason), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
        ] + refusal.fields {
            try? fields.append(name, value)
        }
        respond(refusal.status, fields, body, ends: refusal.endsConnection, now)
    }

    /// Who listens on all addresses is named as the client has named it, which may be elsewhere.
    private func place(_ own: OwnPlace) -> String {
        guard own.endpoint.address.isNull, let host = asked.host,
            let origin = (try? HTTPURL("http://\(host)/"))?.origin
        else { return own.nearby.description }
        return "\(origin.host.uriText):\(origin.port)"
    }

    func answer(_ page: OwnPage, _ now: Monotonic) {
        record.kind = .own
        var fields = HTTPFields()
        var type = "text/plain; charset=utf-8"
        var body: [UInt8] = []
        let place = desk.rules.own.map(place) ?? ""
        switch page {
        case .options: try? fields.append("Allow", "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS")
        case .trace(let echo):
            type = "message/http"
            body = Array(echo.utf8)
        case .autoConfiguration:
            type = "application/x-ns-proxy-autoconfig"
            body = Array(ProxyHints.autoConfiguration(place).utf8)
        case .welcome: body = Array(ProxyHints.welcome(place).utf8)
        }
        if page != .options { try? fields.append("Content-Type", type) }
        respond(200, fields, body, ends: false, now)
    }
}
