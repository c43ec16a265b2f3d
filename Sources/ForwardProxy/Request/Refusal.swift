internal import HTTPDNSNames
internal import HTTPDNSRequestReading

/// Why a request is not carried out, as the client is told.
struct Refusal: Error, Sendable, Hashable {
    let status: Int
    /// A bounded label.
    let reason: String
    /// The type of error of RFC 9209 §2.3.
    let error: String
    /// For people.
    let text: String
    /// What the client should know besides; `Proxy-Authenticate`, `Allow`.
    var fields: [(String, String)] = []
    /// The request was not understood to its end, so nothing behind it can be.
    var endsConnection = false

    init(_ status: Int, _ reason: String, _ error: String, _ text: String) {
        self.status = status
        self.reason = reason
        self.error = error
        self.text = text
    }

    static func == (left: Refusal, right: Refusal) -> Bool {
        left.status == right.status && left.reason == right.reason && left.text == right.text
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(reason)
    }

    func ending() -> Refusal {
        var refusal = self
        refusal.endsConnection = true
        return refusal
    }

    static func request(_ reason: String, _ text: String, status: Int = 400) -> Refusal {
        Refusal(status, reason, "http_request_error", text)
    }

    static func denied(_ reason: String, _ text: String) -> Refusal {
        Refusal(403, reason, "http_request_denied", text)
    }

    init(_ breach: RequestBreach) {
        let refusal: Refusal =
            switch breach {
            case .bareLineFeed:
                .request("bare_line_feed", "A line of the request ends with LF alone.")
            case .foldedField:
                .request("folded_field", "A header field is folded over several lines.")
            case .badChunk: .request("bad_chunk", "The chunks of the body are malformed.")
            case .unknownMethod:
                .request("unknown_method", "This method is not known here.", status: 501)
            case .headTooLarge:
                .request("head_too_large", "The head of the request is too large.", status: 431)
            case .tooManyFields:
                .request("too_many_fields", "The request has too many fields.", status: 431)
            case .targetTooLong: .request("target_too_long", "The URL is too long.", status: 414)
            case .badField: .request("bad_field", "A header field is not well-formed.")
            case .badTarget: .request("bad_target", "The URL holds more than printable ASCII.")
            case .unknownVersion:
                .request("unknown_version", "Only HTTP/1 is spoken here.", status: 505)
            case .notHTTP("HPE_UNEXPECTED_CONTENT_LENGTH"):
                .request(
                    "two_framings",
                    "The length of the body is said twice: by Content-Length twice, or beside "
                        + "Transfer-Encoding.")
            case .notHTTP(let word):
                .request("not_http", "This is not a request: \(Refusal.words(for: word)).")
            case .badBody(let word):
                .request("bad_body", "The body is malformed: \(Refusal.words(for: word)).")
            }
        self = refusal.ending()
    }

    /// The parser's word for what it met, for people. Source: http_parser.h, HTTP_ERRNO_MAP.
    private static func words(for word: String) -> String {
        switch word {
        case "no method": "it does not begin with a method"
        case "HPE_INVALID_METHOD": "no method is called so"
        case "HPE_INVALID_URL": "what stands behind the method is no URL"
        case "HPE_INVALID_HOST", "HPE_INVALID_PORT", "HPE_INVALID_PATH",
            "HPE_INVALID_QUERY_STRING", "HPE_INVALID_FRAGMENT":
            "its URL is malformed"
        case "HPE_INVALID_VERSION", "HPE_INVALID_CONSTANT", "HPE_STRICT":
            "its first line does not end in HTTP/1.1"
        case "HPE_LF_EXPECTED", "HPE_CR_EXPECTED": "a line does not end in CR LF"
        case "HPE_INVALID_HEADER_TOKEN": "a header field holds what no field may"
        case "HPE_INVALID_CONTENT_LENGTH": "Content-Length is no number"
        case "HPE_INVALID_TRANSFER_ENCODING": "Transfer-Encoding is malformed"
        case "HPE_INVALID_CHUNK_SIZE": "the size of a chunk is no number"
        case "HPE_HEADER_OVERFLOW": "its head is too large"
        case "HPE_INVALID_EOF_STATE", "HPE_CLOSED_CONNECTION": "it ends too early"
        default: "it is malformed"
        }
    }

    /// The client was slow.
    static let slow = Refusal(
        408, "request_timeout", "http_request_error", "The request did not come in time."
    ).ending()

    /// The proxy is about to end.
    static let stopping = Refusal(
        503, "stopping", "proxy_internal_error", "The proxy is ending; nothing new is begun."
    ).ending()

    /// The process has no descriptor or no memory left.
    static func lacking(_ word: String) -> Refusal {
        Refusal(
            503, "no_room", "proxy_internal_error", "The proxy cannot open a connection: \(word).")
    }

    /// The value of `Proxy-Status`. Source: RFC 9209 §2.
    var proxyStatus: String { "httpdns; error=\(error); details=\"\(reason)\"" }
}
