internal import HTTPDNSExchange
internal import HTTPDNSRedaction

/// How a body is to be read for secrets, by its head.
struct BodyForm: Sendable, Hashable {
    let mediaType: String?
    /// Its secrets cannot be found.
    let isCoded: Bool

    static let opaque = BodyForm(mediaType: nil, isCoded: false)

    init(mediaType: String?, isCoded: Bool) {
        self.mediaType = mediaType
        self.isCoded = isCoded
    }

    /// - Parameter isDecoded: what the fields say of codings was undone.
    init(_ fields: HTTPFields, isDecoded: Bool) {
        mediaType = fields.first("Content-Type")
        isCoded = !isDecoded && BodyForm.isCoded(fields.first("Content-Encoding"))
    }

    init(fields: [CaptureRecord.Field], isDecoded: Bool) {
        mediaType = CaptureRecord.first("content-type", of: fields)
        isCoded =
            !isDecoded
            && BodyForm.isCoded(
                CaptureRecord.first("content-encoding", of: fields))
    }

    private static func isCoded(_ coding: String?) -> Bool {
        guard let coding else { return false }
        return !["", "identity"].contains(coding.lowercased())
    }
}

/// Takes secrets out of one body as it streams by.
struct BodyScanner {
    /// What is looked for.
    enum Kind {
        case json(JSONScanner)
        case text(TextScanner)
        indirect case multipart(MultipartScanner)
        case opaque
        /// Text in an alphabet of wide characters, in which nothing can be found: none of it is
        /// kept.
        case hidden

        mutating func take(_ octet: UInt8, _ out: inout [UInt8]) {
            switch self {
            case .json(var scanner):
                self = .opaque
                scanner.take(octet, &out)
                self = .json(scanner)
            case .text(var scanner):
                self = .opaque
                scanner.take(octet, &out)
                self = .text(scanner)
            case .multipart(var scanner):
                self = .opaque
                scanner.take(octet, &out)
                self = .multipart(scanner)
            case .opaque: out.append(octet)
            case .hidden: break
            }
        }

        /// The end of what is kept.
        mutating func finish(_ out: inout [UInt8]) {
            switch self {
            case .json(var scanner): scanner.finish(&out)
            case .text(var scanner): scanner.finish(&out)
            case .multipart(var scanner): scanner.finish(&out)
            case .opaque, .hidden: break
            }
            self = .opaque
        }

        /// The end of a body that is whole.
        mutating func finishWhole(_ out: inout [UInt8]) {
            if case .text(var scanner) = self {
                scanner.finishWhole(&out)
                self = .opaque
            } else {
                finish(&out)
            }
        }
    }

    private var kind: Kind?
    private let form: BodyForm
    private let names: SecretNames?

    /// - Parameter names: nil: nothing is taken out.
    init(_ form: BodyForm, _ names: SecretNames?) {
        self.form = form
        self.names = names
    }

    /// What may be kept of the octets; some of it may come later.
    mutating func take(_ octets: [UInt8]) -> [UInt8] {
        guard let names, !octets.isEmpty else { return octets }
        var kind = self.kind ?? BodyScanner.kind(of: form, beginning: octets, names)
        self.kind = .opaque
        defer { self.kind = kind }
        var out: [UInt8] = []
        out.reserveCapacity(octets.count)
        switch kind {
        case .opaque: return octets
        case .hidden: return []
        case .json(var scanner):
            kind = .opaque
            for octet in octets { scanner.take(octet, &out) }
            kind = .json(scanner)
        case .text(var scanner):
            kind = .opaque
            for octet in octets { scanner.take(octet, &out) }
            kind = .text(scanner)
        case .multipart(var scanner):
            kind = .opaque
            for octet in octets { scanner.take(octet, &out) }
            kind = .multipart(scanner)
        }
        return out
    }

    mutating func finish(isWhole: Bool) -> [UInt8] {
        var out: [UInt8] = []
        if isWhole { kind?.finishWhole(&out) } else { kind?.finish(&out) }
        return out
    }

    /// By the type, and by how the body begins: URLSession calls what has no type a form.
    static func kind(
        of form: BodyForm, beginning octets: [UInt8], _ names: SecretNames
    ) -> Kind {
        let (type, parameters) = split(form.mediaType)
        if type.hasPrefix("multipart/") {
            guard let boundary = MultipartScanner.parameter("boundary", of: parameters),
                !boundary.isEmpty, boundary.utf8.count <= 200
            else { return .text(TextScanner(.text, names)) }
            return .multipart(MultipartScanner(boundary: Array(boundary.utf8), names))
        }
        if isBinary(type) { return .opaque }
        let beginning = octets.prefix(sniffedOctets)
        let isText = isText(type) || type.contains("urlencoded")
        if isText, beginning.contains(0) { return .hidden }
        if !isText, beginning.contains(where: { $0 < 0x09 || ($0 > 0x0D && $0 < 0x20) }) {
            return .opaque
        }
        let first = beginning.first { $0 > 0x20 && $0 < 0x80 }
        if type.hasSuffix("json") || first == 0x7B || first == 0x5B {
            return .json(JSONScanner(names))
        }
        if type.contains("urlencoded") { return .text(TextScanner(.form, names)) }
        return .text(TextScanner(isProgram(type) ? .light : .text, names))
    }

    /// The type, lower case and without parameters; and these.
    static func split(_ mediaType: String?) -> (type: String, parameters: String) {
        guard let mediaType else { return ("", "") }
        let type = mediaType.prefix { $0 != ";" }
        let trimmed = type.lowercased().filter { $0 != " " }
        return (trimmed, String(mediaType.dropFirst(type.count)))
    }

    private static func isBinary(_ type: String) -> Bool {
        if type.hasPrefix("image/") { return type != "image/svg+xml" }
        return type.hasPrefix("video/") || type.hasPrefix("audio/") || type.hasPrefix("font/")
            || ["application/pdf", "application/zip", "application/gzip", "application/wasm"]
                .contains(type)
    }

    private static func isText(_ type: String) -> Bool {
        type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
    }

    /// Programs and pages are full of names and colons, and no names of theirs are secrets.
    private static func isProgram(_ type: String) -> Bool {
        type == "text/css" || type == "text/html" || type.hasSuffix("javascript")
            || type.hasSuffix("ecmascript") || type == "image/svg+xml"
    }

    /// Because: what is binary shows it early.
    static let sniffedOctets = 512
}
