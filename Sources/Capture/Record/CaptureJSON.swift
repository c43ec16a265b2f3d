internal import HTTPDNSJSON
internal import HTTPDNSNames

/// Records as JSON, one object each: what `httpdns capture show --json` and `export` print.
public enum CaptureJSON {
    /// The object of a record, without a line end.
    ///
    /// - Parameters:
    ///   - record: what happened.
    ///   - withBodies: with what was kept of the bodies: `text`, or `base64` for what is no text.
    ///   - request: all that was kept of the request's body; nil: as much as the record has.
    ///   - response: the same of the answer's.
    public static func object(
        _ record: CaptureRecord, withBodies: Bool = false, request: [UInt8]? = nil,
        response: [UInt8]? = nil
    ) -> [UInt8] {
        var writer = DetailWriter()
        writer.object { writer in
            writer.put("id", record.id)
            writer.put("kind", record.kind.rawValue)
            writer.put("started", record.startedAt.description)
            writer.put(milliseconds: record.totalMilliseconds, "milliseconds")
            writer.put("method", record.method)
            writer.put("url", record.url)
            writer.put("host", record.host)
            writer.put("status", record.status.map { Int64($0) })
            writer.put("resolver", record.resolver)
            writer.put("sentOctets", record.sentOctets)
            writer.put("receivedOctets", record.receivedOctets)
            RecordForm.write(record, &writer)
            guard withBodies else { return }
            write(request ?? record.requestBody.octets, "requestText", "requestBase64", &writer)
            write(response ?? record.responseBody.octets, "responseText", "responseBase64", &writer)
        }
        return writer.octets
    }

    private static func write(
        _ octets: [UInt8], _ text: StaticString, _ base64: StaticString,
        _ writer: inout DetailWriter
    ) {
        guard !octets.isEmpty else { return }
        if let words = String(validating: octets, as: UTF8.self) {
            writer.put(text, words)
        } else {
            writer.put(base64, Base64.encoded(octets))
        }
    }
}
