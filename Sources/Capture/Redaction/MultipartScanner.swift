internal import HTTPDNSRedaction

/// Takes secrets out of `multipart/form-data` as it streams by: the contents of parts whose name is
/// secret, and what the scanners of their own types find in the others. Source: RFC 7578.
///
/// A boundary that is not found, broken heads of parts: then nothing more goes out. Fail closed.
struct MultipartScanner {
    private enum State: Hashable {
        case preamble
        case head
        case part
        case dropping
        /// Something was not as it should be.
        case lost
    }

    private let names: SecretNames
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// How much of the delimiter the last octets are.
    private var matched: Int
    private var head: [UInt8] = []
    /// Nil until enough of a part is there to tell what it is.
    private var content: BodyScanner.Kind?
    private var form = BodyForm.opaque
    private var beginning: [UInt8] = []

    init(boundary: [UInt8], _ names: SecretNames) {
        self.names = names
        delimiter = [0x0D, 0x0A, 0x2D, 0x2D] + boundary
        // The first delimiter needs no line before it.
        matched = 2
    }

    mutating func take(_ octet: UInt8, _ out: inout [UInt8]) {
        switch state {
        case .lost: return
        case .head: takeHead(octet, &out)
        case .preamble, .part, .dropping: takeContent(octet, &out)
        }
    }

    mutating func finish(_ out: inout [UInt8]) {
        guard state == .part else { return }
        begin(&out)
        content?.finish(&out)
    }

    private mutating func takeContent(_ octet: UInt8, _ out: inout [UInt8]) {
        if octet == delimiter[matched] {
            matched += 1
            guard matched == delimiter.count else { return }
            if state == .part {
                begin(&out)
                content?.finishWhole(&out)
            }
            out += state == .preamble ? delimiter.dropFirst(2) : delimiter[...]
            matched = 0
            head = []
            state = .head
            return
        }
        // The delimiter has no CR but its first, so that no other beginning can hide in what
        // matched.
        let held = state == .preamble && matched <= 2 ? 0 : matched
        for place in 0..<held { put(delimiter[place], &out) }
        matched = octet == delimiter[0] ? 1 : 0
        if matched == 0 { put(octet, &out) }
    }

    private mutating func put(_ octet: UInt8, _ out: inout [UInt8]) {
        guard state == .part else { return }
        guard content == nil else {
            content?.take(octet, &out)
            return
        }
        beginning.append(octet)
        if beginning.count >= BodyScanner.sniffedOctets { begin(&out) }
    }

    /// A part is read as a body of its type would be.
    private mutating func begin(_ out: inout [UInt8]) {
        guard content == nil else { return }
        var kind = BodyScanner.kind(of: form, beginning: beginning, names)
        for octet in beginning { kind.take(octet, &out) }
        beginning = []
        content = kind
    }

    private mutating func takeHead(_ octet: UInt8, _ out: inout [UInt8]) {
        head.append(octet)
        guard head.count <= MultipartScanner.longestHead else {
            state = .lost
            return
        }
        // The last delimiter.
        if head.starts(with: [0x2D, 0x2D]) {
            if head.count == 2 {
                // What may follow it is nobody's.
                out += head + [0x0D, 0x0A]
                state = .lost
            }
            return
        }
        guard head.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A] else { return }
        out += head
        let text = String(decoding: head, as: UTF8.self)
        guard let name = MultipartScanner.parameter("name", of: text) else {
            state = .lost
            return
        }
        // A secret by its name, or by that of what an application would call so if it is long.
        guard names.verdict(Array(name.utf8)) == .clear else {
            out.append(contentsOf: CaptureRedaction.placeholder.utf8)
            state = .dropping
            return
        }
        form = BodyForm(mediaType: MultipartScanner.type(of: text), isCoded: false)
        content = nil
        beginning = []
        state = .part
    }

    /// The value of a parameter, in quotes or bare; nil when it is not there.
    static func parameter(_ name: String, of text: String) -> String? {
        var rest = text[...]
        while let found = rest.firstRange(of: name + "=") {
            let before = rest[..<found.lowerBound].last
            rest = rest[found.upperBound...]
            guard before == nil || before == ";" || before == " " || before == "\t" else {
                continue
            }
            if rest.first == "\"" {
                return String(rest.dropFirst().prefix { $0 != "\"" })
            }
            return String(rest.prefix { !";\r\n \t".contains($0) && $0 != "\r\n" })
        }
        return nil
    }

    private static func type(of head: String) -> String? {
        for line in head.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-type" else { continue }
            return String(parts[1].drop { $0 == " " })
        }
        // Source: RFC 7578 §4.4.
        return "text/plain"
    }

    /// Because: a part's head is three lines.
    private static let longestHead = 8_192
}
