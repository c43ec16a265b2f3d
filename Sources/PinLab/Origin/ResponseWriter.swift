/// Writes one response, with all its faults.
struct ResponseWriter {
    let stream: LabStream

    enum Next {
        /// The connection can carry another request.
        case keepOpen
        /// Say goodbye.
        case close
        /// Close without a word.
        case drop
    }

    func write(_ response: LabResponse, to request: LabRequest) -> Next {
        guard stream.pause(milliseconds: response.delayMilliseconds) else { return .drop }
        switch response.conduct {
        case .neverAnswers:
            stream.stayOpen()
            return .drop
        case .closesUnanswered, .refusesStream, .leavesUnprocessed: return .drop
        case .resetsUnanswered:
            stream.reset()
            return .drop
        case .writes(let octets): return stream.write(octets) ? .close : .drop
        case .trickles(let milliseconds): return trickle(response, milliseconds)
        case .answers, .closes, .resets, .stalls: break
        }
        guard stream.write(head(response)) else { return .drop }
        let hasBody = ResponseWriter.mayHaveBody(response.status, request.method)
        guard hasBody else { return next(response, request) }
        switch response.conduct {
        case .closes(let octets):
            writeBody(response, limit: octets)
            return .drop
        case .resets(let octets):
            // The client must see what was sent: a reset drops what it has not read yet, so let
            // the octets travel first.
            writeBody(response, limit: octets)
            _ = stream.pause(milliseconds: ResponseWriter.beforeResetMilliseconds)
            stream.reset()
            return .drop
        case .stalls(let octets):
            writeBody(response, limit: octets)
            stream.stayOpen()
            return .drop
        default:
            guard writeBody(response, limit: nil) else { return .drop }
            return next(response, request)
        }
    }

    private func trickle(_ response: LabResponse, _ milliseconds: Int64) -> Next {
        for octet in head(response) + response.body {
            guard stream.write([octet]), stream.pause(milliseconds: milliseconds) else {
                return .drop
            }
        }
        return .close
    }

    private func next(_ response: LabResponse, _ request: LabRequest) -> Next {
        let wantsClose =
            (request.values(of: "Connection")
            + response.fields.filter { $0.name.lowercased() == "connection" }.map(\.value))
            .contains { $0.lowercased() == "close" }
        return wantsClose || response.framing == .untilClose ? .close : .keepOpen
    }

    private func head(_ response: LabResponse) -> [UInt8] {
        var text = "HTTP/1.1 \(response.status) \(ResponseWriter.reason(response.status))\r\n"
        for field in response.fields { text += "\(field.name): \(field.value)\r\n" }
        switch response.framing {
        case .length where ResponseWriter.mayHaveLength(response.status):
            text += "Content-Length: \(response.body.count)\r\n"
        case .length: break
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .untilClose: text += "Connection: close\r\n"
        }
        return Array((text + "\r\n").utf8)
    }

    /// False when not all could be written.
    @discardableResult
    private func writeBody(_ response: LabResponse, limit: Int?) -> Bool {
        var rest = response.body.prefix(max(0, limit ?? response.body.count))
        let piece = response.pieceOctets > 0 ? response.pieceOctets : max(1, rest.count)
        var isFirst = true
        while !rest.isEmpty {
            if !isFirst {
                guard stream.pause(milliseconds: response.pieceDelayMilliseconds) else {
                    return false
                }
            }
            isFirst = false
            guard writePiece(rest.prefix(piece), framing: response.framing) else { return false }
            rest = rest.dropFirst(piece)
        }
        guard response.framing == .chunked, limit == nil else { return true }
        let trailers = response.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return stream.write(Array("0\r\n\(trailers)\r\n".utf8))
    }

    private func writePiece(_ piece: ArraySlice<UInt8>, framing: LabResponse.Framing) -> Bool {
        guard framing == .chunked else { return stream.write(piece) }
        let size = String(piece.count, radix: 16)
        return stream.write(Array("\(size)\r\n".utf8) + piece + [0x0D, 0x0A])
    }

    /// Source: RFC 9112 §6.3 rules 1 and 2.
    private static func mayHaveBody(_ status: Int, _ method: String) -> Bool {
        method != "HEAD" && mayHaveLength(status)
    }

    private static func mayHaveLength(_ status: Int) -> Bool {
        status >= 200 && status != 204 && status != 304
    }

    /// The usual phrase; clients must not rely on it. Source: RFC 9110 §15.
    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 204: "No Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        default: "Status"
        }
    }

    /// Because: a reader on loopback wakes within a few milliseconds.
    private static let beforeResetMilliseconds: Int64 = 20
}
