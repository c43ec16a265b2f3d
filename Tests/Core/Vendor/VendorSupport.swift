import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire

/// What the codec tests share.
enum Vendor {
    static let source = Testimony.Source(resolver: "test", transport: .httpdns)
    static let now = WallTime(secondsSince1970: 1_534_315_800)

    static func question(
        _ name: String = "www.example.test", _ type: RecordType = .a
    ) throws -> Question {
        Question(name: try HostName(name), type: type)
    }

    static func response(
        _ body: String, status: Int = 200, contentType: String? = nil
    ) -> HTTPDNSResponse {
        HTTPDNSResponse(status: status, contentType: contentType, body: Array(body.utf8))
    }

    /// The outcome as one line: `192.0.2.1 60`, `NODATA`, `rejected X`, `malformed`.
    static func outcome(
        _ codec: any HTTPDNSCodec, _ response: HTTPDNSResponse, _ question: Question
    ) -> String {
        do {
            let testimony = try codec.testimony(
                from: response, for: question, source: source)
            if testimony.answers.isEmpty { return "code \(testimony.code.rawValue)" }
            return testimony.answers.map { record in
                guard case .address(let address) = record.data else { return "\(record.data)" }
                return "\(address) \(record.ttlSeconds)"
            }.joined(separator: ", ")
        } catch {
            switch error {
            case .httpStatus(let status): return "status \(status)"
            case .rejected(let code): return "rejected \(code)"
            default: return error.label
            }
        }
    }
}

extension Vendor {
    /// The outcome of each question of one request, as lines.
    static func outcomes(
        _ codec: any HTTPDNSCodec, _ body: String, _ questions: [Question], status: Int = 200
    ) -> [String] {
        codec.testimonies(
            from: response(body, status: status), for: questions, source: source
        ).map { result in
            switch result {
            case .success(let testimony):
                testimony.answers.isEmpty
                    ? "none \(testimony.negativeTTLSeconds.map(String.init) ?? "-")"
                    : testimony.answers.map { record in
                        guard case .address(let address) = record.data else {
                            return "\(record.data)"
                        }
                        return "\(address) \(record.ttlSeconds)"
                    }.joined(separator: ", ")
            case .failure(.rejected(let code)): "rejected \(code)"
            case .failure(let failure): failure.label
            }
        }
    }

    /// A question for each family of each name.
    static func both(_ names: String...) throws -> [Question] {
        try names.flatMap { [try question($0), try question($0, .aaaa)] }
    }

    /// Octets 0, 1, 2 …, as the published vectors have them.
    static let counting: @Sendable (Int) -> [UInt8] = { count in (0..<count).map { UInt8($0) } }

    static func at(_ seconds: Int64) -> WallTime { WallTime(secondsSince1970: seconds) }
}
