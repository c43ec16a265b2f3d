package import HTTPDNSCapture
internal import HTTPDNSJSON

/// A record in which a secret stands in every place that has a name for it, beside octets that may be
/// anything.
package enum RedactionTrial {
    /// Of no form by which a token is known: only the names that stand before it say what it is.
    package static let secret = "planted-x7"

    /// What came out that must not; nil: nothing.
    package static func finding(
        _ octets: [UInt8], under redaction: CaptureRedaction = CaptureRedaction()
    ) -> String? {
        let text = String(decoding: octets, as: UTF8.self)
        let redaction = RecordRedaction(redaction)
        for body in bodies(octets, text) {
            let shown = redaction.shown(record(octets, text, body))
            if let place = place(of: secret, in: shown) {
                return "the secret came out of the \(place), its body being \(body.type)"
            }
            guard redaction.shown(shown) == shown else {
                return "looked at twice it is another, its body being \(body.type)"
            }
        }
        return nil
    }

    private struct Body {
        let type: String
        let octets: [UInt8]
    }

    /// Where it stands.
    private static func place(of secret: String, in record: CaptureRecord) -> String? {
        for hop in record.hops {
            if hop.url.contains(secret) { return "URL" }
            for field in hop.requestFields + hop.responseFields
            where field.value.contains(secret) { return "field \(field.name)" }
        }
        for (name, body) in [("request", record.requestBody), ("response", record.responseBody)] {
            let text = String(decoding: body.octets, as: UTF8.self)
            if text.contains(secret) { return "\(name)'s body" }
        }
        return nil
    }

    private static func record(
        _ octets: [UInt8], _ text: String, _ body: Body
    ) -> CaptureRecord {
        let escaped = percentEncoded(octets)
        var hop = CaptureRecord.Hop(
            method: "POST",
            url: "https://user:\(secret)@a.example/\(escaped)?x=\(escaped)&access_token=\(secret)"
                + "&\(escaped)=y#password=\(secret)&z=\(escaped)")
        let word = String(decoding: octets.filter(isOfCookie), as: UTF8.self)
        let line = String(text.unicodeScalars.filter { $0.value >= 0x20 })
        hop.requestFields = [
            CaptureRecord.Field("Content-Type", body.type),
            CaptureRecord.Field("Authorization", "Bearer \(secret)"),
            CaptureRecord.Field("X-Api-Key", line + secret),
            CaptureRecord.Field("Cookie", "a=\(secret); b=\(word); c=\(secret)"),
            CaptureRecord.Field("Referer", "https://a.example/\(escaped)?token=\(secret)"),
            CaptureRecord.Field("X-Anything", line),
        ]
        hop.responseFields = [
            CaptureRecord.Field("Content-Type", body.type),
            CaptureRecord.Field("Set-Cookie", "a=\(word)\(secret); Path=/; b=\(secret)"),
            CaptureRecord.Field("Location", "/\(escaped)?secret=\(secret)"),
        ]
        var record = CaptureRecord(
            .exchange, hop, startedAt: CaptureTime(microsecondsSince1970: 0))
        record.requestBody.octets = body.octets
        record.requestBody.totalOctets = Int64(body.octets.count)
        record.requestBody.keptOctets = Int64(body.octets.count)
        record.responseBody = record.requestBody
        return record
    }

    /// Of each kind that is read for secrets, sound whatever the octets are.
    private static func bodies(_ octets: [UInt8], _ text: String) -> [Body] {
        let escaped = percentEncoded(octets)
        var inner = JSONObject()
        inner["refresh_token"] = .string(secret)
        var members = JSONObject()
        members[text] = .string(text)
        members["password"] = .string(secret)
        members["list"] = .array([.object(inner), .string(text)])
        members["client_secret"] = .array([.string(secret), .string(text)])
        let json = JSONWriter.octets(.object(members))
        let form = "a=\(escaped)&password=\(secret)&\(escaped)=b&token=\(secret)"
        let boundary = "boundary-of-the-trial"
        let parts =
            Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n".utf8)
            + octets
            + Array(
                ("\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n"
                    + "\(secret)\r\n--\(boundary)--\r\n").utf8)
        return [
            Body(type: "application/json", octets: json),
            Body(type: "application/problem+json; charset=utf-8", octets: json),
            Body(type: "application/x-www-form-urlencoded", octets: Array(form.utf8)),
            Body(type: "multipart/form-data; boundary=\(boundary)", octets: parts),
        ]
    }

    private static func percentEncoded(_ octets: [UInt8]) -> String {
        octets.map { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(octet))
            default: "%" + String(octet >> 4, radix: 16) + String(octet & 0xF, radix: 16)
            }
        }.joined()
    }

    /// Source: RFC 6265 §4.1.1.
    private static func isOfCookie(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
        default: false
        }
    }
}
