internal import HTTPDNSExchange

/// What goes back to a client, as octets. Source: RFC 9112 §4, §7.1.
enum ResponseText {
    /// How the end of a body is told.
    enum Framing: Hashable {
        case none
        case length(String)
        case chunked
        case close
    }

    /// What a response means for its connection and the next request on it.
    struct Ending: Hashable {
        let keepsAlive: Bool
        /// The client speaks HTTP/1.0, where keeping is said.
        let isOld: Bool
    }

    static func head(
        _ status: Int, _ fields: HTTPFields, _ framing: Framing, _ ending: Ending
    ) -> [UInt8] {
        let head = lines(status, fields)
        var text = ""
        switch framing {
        case .none, .close: break
        case .length(let length): text += "Content-Length: \(length)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        }
        if !ending.keepsAlive {
            text += "Connection: close\r\n"
        } else if ending.isOld {
            text += "Connection: keep-alive\r\n"
        }
        return head + Array((text + "\r\n").utf8)
    }

    /// Nothing follows it but another head. Source: RFC 9110 §15.2.
    static func interim(_ status: Int, _ fields: HTTPFields) -> [UInt8] {
        lines(status, fields) + [0x0D, 0x0A]
    }

    private static func lines(_ status: Int, _ fields: HTTPFields) -> [UInt8] {
        var lines = Array("HTTP/1.1 \(status) \(phrase(status))\r\n".utf8)
        for field in fields.fields {
            lines += Array("\(field.name): ".utf8) + field.text.wire + [0x0D, 0x0A]
        }
        return lines
    }

    static func chunk(_ octets: [UInt8]) -> [UInt8] {
        Array(String(octets.count, radix: 16).utf8) + [0x0D, 0x0A] + octets + [0x0D, 0x0A]
    }

    static let lastChunk = Array("0\r\n\r\n".utf8)
    static let goOn = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)

    /// A fatal alert, unrecognized_name, in the clear. Source: RFC 8446 §5.1, §6.2.
    static let unrecognisedName: [UInt8] = [21, 3, 3, 0, 2, 2, 112]

    /// A page that says why, for browsers as HTML.
    static func page(
        _ refusal: Refusal, asHTML: Bool
    ) -> (type: String, body: [UInt8]) {
        let title = "\(refusal.status) \(phrase(refusal.status))"
        guard asHTML else {
            return (
                "text/plain; charset=utf-8",
                Array("\(title): \(refusal.reason)\n\(refusal.text)\n".utf8)
            )
        }
        let html = """
            <!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>\(escaped(title))</title>
            <style>body{font:16px sans-serif;margin:3em auto;max-width:44em;padding:0 1em}
            pre{white-space:pre-wrap;background:#eee;padding:1em}small{color:#555}</style>
            <h1>\(escaped(title))</h1><pre>\(escaped(refusal.text))</pre>
            <small>httpdns proxy, reason <code>\(escaped(refusal.reason))</code></small></html>

            """
        return ("text/html; charset=utf-8", Array(html.utf8))
    }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }

    /// Words for people; a client reads the number. Source: RFC 9110 §15; RFC 2518 §10.1; RFC 8297;
    /// RFC 6585; RFC 5842.
    static func phrase(_ status: Int) -> String { phrases[status] ?? "" }

    private static let phrases: [Int: String] = [
        102: "Processing", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted",
        204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        407: "Proxy Authentication Required", 408: "Request Timeout", 414: "URI Too Long",
        417: "Expectation Failed", 421: "Misdirected Request", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 508: "Loop Detected",
    ]
}
