/// How many octets of an answer's body came, where that is known.
struct HARSizes {
    /// On the wire; 0 where the body came from a cache. Source: HAR 1.2, "response".
    let received: Int64?
    /// What its coding saved. Source: HAR 1.2, "content".
    let saved: Int64?

    init(_ record: CaptureRecord, _ place: Int) {
        let hop = record.hops[place]
        let isLast = place == record.hops.count - 1
        guard hop.receivedHeadOctets == nil else {
            received = hop.receivedHeadOctets.map { max(0, hop.receivedOctets &- $0) }
            saved = nil
            return
        }
        let promised = HARSizes.promised(hop)
        guard let status = hop.status, !isLast || record.kind == .exchange || record.kind == .cached
        else {
            (received, saved) = (nil, nil)
            return
        }
        let isKept =
            hop.isAnswerCached || hop.cache == "unsatisfied" || (isLast && record.kind == .cached)
        let isBodiless = hop.method == "HEAD" || status < 200 || status == 204 || status == 304
        guard !isKept, !isBodiless else {
            (received, saved) = (0, nil)
            return
        }
        let isCoded = HARSizes.isCoded(hop)
        guard isLast, !isCoded else {
            let isWhole = !isLast || record.failure == nil
            received = isWhole ? promised : nil
            let size = isLast && isCoded ? record.responseBody.totalOctets : nil
            saved = received.flatMap { received in size.map { $0 - received } }
            return
        }
        // Who wrote the file may have seen none of it.
        let octets = record.responseBody.totalOctets
        received = octets > 0 || hop.receivedOctets > 0 ? octets : nil
        saved = nil
    }

    private static func isCoded(_ hop: CaptureRecord.Hop) -> Bool {
        let coding = hop.responseField("content-encoding") ?? ""
        return !["", "identity"].contains(coding.lowercased())
    }

    /// Source: RFC 9110 §8.6: digits; `Transfer-Encoding` overrides it, by RFC 9112 §6.3.
    private static func promised(_ hop: CaptureRecord.Hop) -> Int64? {
        guard hop.responseField("transfer-encoding") == nil,
            let text = hop.responseField("content-length"),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
