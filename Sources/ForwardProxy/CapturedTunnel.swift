internal import HTTPDNSCapture
internal import HTTPDNSLookup
internal import HTTPDNSNames

extension CaptureRecord {
    /// What can be seen of a tunnel, or of a request that was refused; nil where nobody was meant.
    init?(_ record: ForwardProxyRecord, _ resolution: ResolvedHost?) {
        guard let url = CaptureRecord.url(of: record) else { return nil }
        var hop = Hop(method: record.method, url: url)
        hop.status = record.status
        hop.version = "1.1"
        hop.resolution = resolution.map { Resolution($0) }
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
    private static func url(of record: ForwardProxyRecord) -> String? {
        switch record.kind {
        case .own, .exchange: nil
        case .tunnel: "\(record.peer == nil ? "tcp" : "https")://\(record.target)/"
        case .refused where record.method == "CONNECT" && record.host != nil:
            "https://\(record.target)/"
        case .refused: record.target.contains("://") ? record.target : nil
        }
    }
}
