internal import HTTPDNSCapture
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames

/// What is known of a request beside what the observer is told.
struct ForwardProxySight {
    /// Its `Host` field.
    var host: String?
    var resolution: ResolvedHost?
    /// Why there is no resolution.
    var failure: ResolutionFailure?
}

extension CaptureRecord {
    /// What can be seen of a tunnel, or of a request that was refused, with what is known of it: that
    /// may be nothing but the reason. Nil for what the client records, and for pages of the proxy.
    init?(_ record: ForwardProxyRecord, _ seen: ForwardProxySight) {
        guard let url = CaptureRecord.url(of: record, seen.host) else { return nil }
        var hop = Hop(method: record.method, url: url)
        if let host = seen.host { hop.requestFields = [Field("Host", host)] }
        hop.status = record.status
        hop.version = "1.1"
        hop.resolution = seen.resolution.map { Resolution($0) }
        hop.resolverFailures = seen.failure.map { Attempt.all($0) } ?? []
        hop.resolveMilliseconds = record.resolveMilliseconds
        hop.remote = record.remote?.description
        hop.peer = record.peer.map { Peer($0) }
        hop.timings.secured = record.proveMilliseconds
        if let opened = record.openedMilliseconds {
            // From the start of the transfer: after the resolution.
            hop.timings.firstByte = max(0, opened - (record.resolveMilliseconds ?? 0))
            hop.timings.total = max(
                0, record.totalMilliseconds - (record.resolveMilliseconds ?? 0))
        }
        hop.attempts = record.attempts.map {
            Attempt(at: $0.endpoint.description, label: $0.label, message: $0.message)
        }
        hop.sentOctets = record.octetsUp
        hop.receivedOctets = record.octetsDown
        self.init(
            record.kind == .tunnel ? .tunnel : .blocked, hop,
            startedAt: record.startedAt, initiator: Initiator("proxy"))
        totalMilliseconds = record.totalMilliseconds
        if let reason = record.reason {
            failure = Failure(label: reason, message: record.message ?? "")
        }
    }

    /// Of a tunnel the scheme is what was proven: TLS, or nothing.
    private static func url(of record: ForwardProxyRecord, _ host: String?) -> String? {
        switch record.kind {
        case .own, .exchange: nil
        case .tunnel: "\(record.peer == nil ? "tcp" : "https")://\(record.target)/"
        case .refused where record.method == "CONNECT" && record.host != nil:
            "https://\(record.target)/"
        case .refused: CaptureRecord.meant(record.target, under: host) ?? record.target
        }
    }

    /// The URL of a path under its `Host`: whom a page that was led here thought to ask.
    private static func meant(_ target: String, under host: String?) -> String? {
        guard target.hasPrefix("/"), let host,
            let url = try? HTTPURL("http://\(host)\(target)"), url.target == target
        else { return nil }
        return url.description
    }
}
