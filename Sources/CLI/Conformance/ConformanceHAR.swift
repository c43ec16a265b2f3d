internal import HTTPDNSCapture
internal import HTTPDNSJSON

// HAR files
extension ConformanceAdapter {
    static let harOperations: [String: Operation] = [
        "har.validate": { (request) throws(ConformanceRequest.Fault) in
            guard let document = request.members["doc"] else { throw request.missing("doc") }
            let kind = try request.optionalText("kind") ?? "har"
            guard let faults = HARSchema.faults(in: document, as: kind) else {
                return skipped(
                    "there is no part \"\(kind)\"; known are \(HARSchema.parts.joined(separator: ", "))"
                )
            }
            return [
                "ok": .bool(faults.isEmpty),
                "faults": .array(faults.map { .string($0.description) }),
            ]
        },
        "har.read": { (request) throws(ConformanceRequest.Fault) in
            guard let document = request.members["doc"] else { throw request.missing("doc") }
            do throws(HARFault) {
                let reader = try HARReader(document)
                return [
                    "ok": true, "entries": .integer(Int64(reader.records.count)),
                    "creator": .string(reader.creator),
                    "urls": .array(reader.records.map { .string($0.url) }),
                    "faults": .array(reader.faults.map { .string($0) }),
                ]
            } catch {
                return ["ok": false, "error": .string(error.description)]
            }
        },
    ]
}
