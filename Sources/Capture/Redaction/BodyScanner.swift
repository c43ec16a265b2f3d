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
    /// Of a program, as long as it may be a call with JSON in it.
    private var beginning: [UInt8] = []
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
        var octets = octets
        if kind == nil, names.nature(of: form.mediaType).isScript {
            beginning += octets
            guard CalledJSON(beginning) != .open else { return [] }
            octets = beginning
            beginning = []
        }
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
        if kind == nil, !beginning.isEmpty, let names {
            var kind = BodyScanner.kind(of: form, beginning: beginning, names)
            for octet in beginning { kind.take(octet, &out) }
            beginning = []
            self.kind = kind
        }
        if isWhole { kind?.finishWhole(&out) } else { kind?.finish(&out) }
        return out
    }

    /// By the type, and by how the body begins: URLSession calls what has no type a form.
    static func kind(
        of form: BodyForm, beginning octets: [UInt8], _ names: SecretNames
    ) -> Kind {
        let nature = names.nature(of: form.mediaType)
        if case .multipart = nature.kind {
            guard let boundary = MultipartScanner.parameter("boundary", of: nature.parameters),
                !boundary.isEmpty, boundary.utf8.count <= 200
            else { return .text(TextScanner(.text, names)) }
            return .multipart(MultipartScanner(boundary: Array(boundary.utf8), names))
        }
        if case .binary = nature.kind { return .opaque }
        let beginning = octets.prefix(sniffedOctets)
        if nature.isText, beginning.contains(0) { return .hidden }
        // A file in a form that does not say it is one is binary, and the form is not.
        let isOfForm = beginning.drop { $0 == 0x0D || $0 == 0x0A }.starts(with: [0x2D, 0x2D])
        if !nature.isText, !isOfForm, beginning.contains(where: isOfBinary) { return .opaque }
        let first = beginning.first { $0 > 0x20 && $0 < 0x80 }
        if nature.isJSON || first == 0x7B || first == 0x5B { return .json(JSONScanner(names)) }
        if nature.isScript, CalledJSON(octets) == .called { return .json(JSONScanner(names)) }
        if case .form = nature.kind { return .text(TextScanner(.form, names)) }
        return .text(TextScanner(nature.isProgram ? .light : .text, names))
    }

    /// No text holds it. The mark before each value of a sequence of JSON does not count. Source: RFC
    /// 7464 §2.2.
    private static func isOfBinary(_ octet: UInt8) -> Bool {
        octet < 0x09 || (octet > 0x0D && octet < 0x20 && octet != 0x1E)
    }

    /// Because: what is binary shows it early.
    static let sniffedOctets = 512
}
