/// Follows the tags of XML through a text, also where the text stands in JSON (`\u003ctoken\u003e`),
/// and says where the content of an element with a secret name begins and ends.
///
/// Prefixes and attributes do not count. `<` always begins a new tag: XML allows it nowhere else.
/// Source: XML 1.0 §2.4, §3.1.
struct TagTracker {
    enum Event: Sendable, Hashable {
        case nothing
        /// The content of an element begins, or a CDATA section that is all of it.
        case opens(SecretNames.Verdict)
        /// The slash of the tag that ends what ``enter()`` entered.
        case closes
    }

    private enum State: Sendable, Hashable {
        case outside
        /// Behind `<`.
        case opened
        case name
        case attributes
        case closing
        /// Behind `<!` or `<?`.
        case declaration
    }

    private var state = State.outside
    private var name: [UInt8] = []
    private var verdict = SecretNames.Verdict.clear
    /// Of the attribute that is open.
    private var quote: UInt8?
    /// The last octet of a tag that is no blank.
    private var last: UInt8 = 0
    /// Elements that are open in what is left out.
    private var depth = 0
    /// How a declaration began, and its last octets.
    private var beginning: [UInt8] = []
    private var tail: [UInt8] = []
    /// Nothing has come yet of an element's content.
    private var awaited = SecretNames.Verdict.clear
    private var isEscaped = false
    private var escape: [UInt8] = []

    /// What comes is the content of an element that is left out.
    mutating func enter() { depth = 1 }

    mutating func take(_ octet: UInt8, _ names: SecretNames) -> Event {
        if !escape.isEmpty {
            guard let digit = SecretNames.hex(octet) else {
                escape = []
                return follow(octet, names)
            }
            escape.append(digit)
            guard escape.count == 5 else { return .nothing }
            let value = escape.dropFirst().reduce(0) { $0 << 4 | Int($1) }
            escape = []
            return follow(value < 0x80 ? UInt8(value) : 0x80, names)
        }
        guard isEscaped || octet == 0x5C else { return follow(octet, names) }
        isEscaped = octet == 0x5C
        switch octet {
        case 0x5C: return .nothing
        case 0x75:
            escape = [octet]
            return .nothing
        // A line, a tab.
        case 0x6E, 0x72, 0x74: return follow(0x20, names)
        default: return follow(octet, names)
        }
    }

    private mutating func follow(_ octet: UInt8, _ names: SecretNames) -> Event {
        switch state {
        case .outside:
            if octet == 0x3C {
                state = .opened
            } else if octet > 0x20 {
                awaited = .clear
            }
        case .opened: return opened(octet)
        case .name: return name(octet, names)
        case .attributes: return attributes(octet)
        case .closing:
            if octet == 0x3C { state = .opened } else if octet == 0x3E { state = .outside }
        case .declaration: return declaration(octet, names)
        }
        return .nothing
    }

    private mutating func opened(_ octet: UInt8) -> Event {
        if octet != 0x21 { awaited = .clear }
        switch octet {
        case 0x3C: break
        case 0x2F:
            state = .closing
            guard depth > 0 else { break }
            depth -= 1
            return depth == 0 ? .closes : .nothing
        case 0x21, 0x3F:
            state = .declaration
            beginning = octet == 0x3F ? [octet] : []
            tail = []
        case 0x41...0x5A, 0x61...0x7A, 0x5F, 0x80...0xFF:
            state = .name
            name = [octet]
        default: state = .outside
        }
        return .nothing
    }

    private mutating func name(_ octet: UInt8, _ names: SecretNames) -> Event {
        switch octet {
        case 0x3A: name = []
        case 0x3C: state = .opened
        case 0x00...0x20, 0x2F, 0x3E:
            verdict = name.count > TagTracker.longestName ? .clear : names.verdict(name)
            state = .attributes
            quote = nil
            last = 0
            return attributes(octet)
        default: if name.count <= TagTracker.longestName { name.append(octet) }
        }
        return .nothing
    }

    private mutating func attributes(_ octet: UInt8) -> Event {
        guard octet != 0x3C else {
            state = .opened
            return .nothing
        }
        if let mark = quote {
            if octet == mark { quote = nil }
            return .nothing
        }
        switch octet {
        case 0x22, 0x27: if last == 0x3D { quote = octet }
        case 0x3E:
            state = .outside
            guard last != 0x2F else { return .nothing }
            guard depth == 0 else {
                depth += 1
                return .nothing
            }
            awaited = verdict
            return verdict == .clear ? .nothing : .opens(verdict)
        default: break
        }
        if octet > 0x20 { last = octet }
        return .nothing
    }

    /// Outside of what is left out, only the mark of a CDATA section counts: what stands in comments
    /// is searched as all else is.
    private mutating func declaration(_ octet: UInt8, _ names: SecretNames) -> Event {
        if beginning.count < TagTracker.cdata.count { beginning.append(octet) }
        guard depth > 0 else {
            guard TagTracker.cdata.starts(with: beginning) else {
                state = .outside
                return follow(octet, names)
            }
            guard beginning.count == TagTracker.cdata.count else { return .nothing }
            state = .outside
            return awaited == .clear ? .nothing : .opens(awaited)
        }
        tail = tail.suffix(2) + [octet]
        let end: [UInt8] =
            switch beginning.first {
            case 0x5B: [0x5D, 0x5D, 0x3E]
            case 0x2D: [0x2D, 0x2D, 0x3E]
            case 0x3F: [0x3F, 0x3E]
            default: [0x3E]
            }
        if tail.suffix(end.count) == end[...] { state = .outside }
        return .nothing
    }

    private static let cdata = Array("[CDATA[".utf8)
    /// Because: names that are longer are none that anybody listed.
    private static let longestName = 128
}
