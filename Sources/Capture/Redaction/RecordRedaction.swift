/// Takes the secrets out of records that somebody else wrote, bodies included. One thread's own.
package final class RecordRedaction {
    private let redactor: Redactor

    package init(_ redaction: CaptureRedaction = CaptureRedaction()) {
        redactor = Redactor(redaction)
    }

    /// The record as a capture would have kept it. What was taken out before stays so.
    package func shown(_ record: CaptureRecord) -> CaptureRecord {
        guard redactor.names != nil else { return record }
        var record = record
        let sent = record.hops.first?.requestFields ?? []
        let received = record.hops.last?.responseFields ?? []
        redact(&record.requestBody, sent)
        redact(&record.responseBody, received)
        redactor.redact(&record)
        return record
    }

    private func redact(_ body: inout CaptureRecord.Body, _ fields: [CaptureRecord.Field]) {
        guard !body.octets.isEmpty else { return }
        // Whoever writes a HAR file undoes codings first, and may say the type without the field.
        let type = body.mediaType ?? CaptureRecord.first("content-type", of: fields)
        var scanner = BodyScanner(BodyForm(mediaType: type, isCoded: false), redactor.names)
        let isWhole = body.omission == nil && Int64(body.octets.count) == body.totalOctets
        let octets = scanner.take(body.octets) + scanner.finish(isWhole: isWhole)
        body.octets = octets
        body.keptOctets = Int64(octets.count)
    }
}
