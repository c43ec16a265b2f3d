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
        let bodies = withBodies ? Bodies(record, request, response) : nil
        writer.object { write(record, bodies, &$0) }
        return writer.octets
    }

    /// The same as an answer of a command: with the file, with every member, null where there is
    /// nothing, and with `error`.
    package static func document(
        _ record: CaptureRecord, file: String, bodies: Bodies? = nil
    ) -> [UInt8] {
        var writer = DetailWriter()
        writer.object { writer in
            writer.put("file", file)
            write(record, bodies, &writer)
            for (name, isMissing) in missing(record, bodies) where isMissing { writer.null(name) }
            writer.null("error")
        }
        return writer.octets
    }

    /// The members of ``document(_:file:bodies:)``.
    package static func names(withBodies: Bool) -> [String] {
        let record = CaptureRecord(
            .exchange, Hop(url: ""), startedAt: CaptureTime(microsecondsSince1970: 0))
        let octets = document(record, file: "", bodies: withBodies ? Bodies(record, [], []) : nil)
        return (try? JSONValue.parse(octets))?.object?.names ?? []
    }

    /// What was kept of the bodies.
    package struct Bodies {
        let request: [UInt8]
        let response: [UInt8]

        /// Nil for a body: as much as the record has.
        package init(_ record: CaptureRecord, _ request: [UInt8]?, _ response: [UInt8]?) {
            self.request = request ?? record.requestBody.octets
            self.response = response ?? record.responseBody.octets
        }
    }

    private typealias Hop = CaptureRecord.Hop

    private static func write(
        _ record: CaptureRecord, _ bodies: Bodies?, _ writer: inout DetailWriter
    ) {
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
        guard let bodies else { return }
        write(bodies.request, "requestText", "requestBase64", &writer)
        write(bodies.response, "responseText", "responseBase64", &writer)
    }

    /// What ``write(_:_:_:)`` leaves out where there is none.
    private static func missing(
        _ record: CaptureRecord, _ bodies: Bodies?
    ) -> [(StaticString, Bool)] {
        let hasTime = record.totalMilliseconds.map(DetailWriter.isWritten) ?? false
        var members: [(StaticString, Bool)] = [
            ("milliseconds", !hasTime), ("status", record.status == nil),
            ("resolver", record.resolver == nil), ("task", record.initiator.task == nil),
            ("rule", record.rule == nil), ("reason", record.reason == nil),
            ("failure", record.failure == nil),
            ("requestBody", !RecordForm.isWritten(record.requestBody)),
            ("responseBody", !RecordForm.isWritten(record.responseBody)),
        ]
        guard let bodies else { return members }
        let (request, response) = (isText(bodies.request), isText(bodies.response))
        members += [
            ("requestText", request != true), ("requestBase64", request != false),
            ("responseText", response != true), ("responseBase64", response != false),
        ]
        return members
    }

    /// Nil for no octets.
    private static func isText(_ octets: [UInt8]) -> Bool? {
        octets.isEmpty ? nil : String(validating: octets, as: UTF8.self) != nil
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
