/// Follows the tags of XML through a text, also where the text stands in JSON (`\u003ctoken\u003e`),
/// and says where the content of an element with a secret name begins and ends.
///
/// Two more ways to name a value count: the element behind one that is called `key` or `name` has
/// what that holds for its name (`<key>password</key><string>…`), and the attribute `value` what an
/// attribute `name` or `key` before it in the tag has (`<param name="password" value="…"/>`).
///
/// Prefixes and other attributes do not count. `<` always begins a new tag: XML allows it nowhere else.
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
    /// What an element called `key` or `name` holds so far; nil in any other.
    private var label: [UInt8]?
    /// Of what such an element held: for the element behind it.
    private var labelled = SecretNames.Verdict.clear
    /// The last octet of the tag was a blank.
    private var isBetween = false
    /// The attribute that is open, and what it has so far.
    private var attribute: [UInt8] = []
    private var attributeValue: [UInt8] = []
    /// Of what the attribute `name` of the open tag says: for its `value`.
    private(set) var named = SecretNames.Verdict.clear

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
                if let count = label?.count, count <= TagTracker.longestName {
                    label?.append(octet)
                }
            } else if label?.isEmpty == false {
                // A name has no blank in it; what stands around it does not matter.
                label?.append(octet)
            }
        case .opened: return opened(octet, names)
        case .name: return name(octet, names)
        case .attributes: return attributes(octet, names)
        case .closing:
            if octet == 0x3C { state = .opened } else if octet == 0x3E { state = .outside }
        case .declaration: return declaration(octet, names)
        }
        return .nothing
    }

    private mutating func opened(_ octet: UInt8, _ names: SecretNames) -> Event {
        if octet != 0x21 { awaited = .clear }
        switch octet {
        case 0x3C: break
        case 0x2F:
            state = .closing
            labelled = label.map { TagTracker.verdict(ofLabel: $0, names) } ?? .clear
            label = nil
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
            named = .clear
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
            verdict = max(verdict, labelled)
            labelled = .clear
            label = TagTracker.isNaming(name) ? [] : nil
            state = .attributes
            quote = nil
            last = 0
            attribute = []
            return attributes(octet, names)
        default: if name.count <= TagTracker.longestName { name.append(octet) }
        }
        return .nothing
    }

    private mutating func attributes(_ octet: UInt8, _ names: SecretNames) -> Event {
        guard octet != 0x3C else {
            state = .opened
            return .nothing
        }
        if let mark = quote {
            if octet == mark {
                closeAttribute(names)
            } else if attributeValue.count <= TagTracker.longestName {
                attributeValue.append(octet)
            }
            return .nothing
        }
        switch octet {
        case 0x22, 0x27: if last == 0x3D { quote = octet }
        case 0x00...0x20, 0x3D: break
        case 0x3E:
            state = .outside
            named = .clear
            guard last != 0x2F else {
                label = nil
                return .nothing
            }
            guard depth == 0 else {
                depth += 1
                return .nothing
            }
            awaited = verdict
            return verdict == .clear ? .nothing : .opens(verdict)
        default:
            if isBetween { attribute = [] }
            if attribute.count <= TagTracker.longestName { attribute.append(octet) }
        }
        isBetween = octet <= 0x20
        if octet > 0x20 { last = octet }
        return .nothing
    }

    private mutating func closeAttribute(_ names: SecretNames) {
        quote = nil
        if TagTracker.isNaming(attribute) {
            named = max(named, TagTracker.verdict(ofLabel: attributeValue, names))
        }
        attribute = []
        attributeValue = []
    }

    /// Whether what is called so says what something else is called.
    private static func isNaming(_ name: [UInt8]) -> Bool {
        let name = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return name == Array("name".utf8) || name == Array("key".utf8)
    }

    private static func verdict(
        ofLabel label: [UInt8], _ names: SecretNames
    ) -> SecretNames.Verdict {
        let name = label.reversed().drop { $0 <= 0x20 }.reversed()
        guard !name.isEmpty, name.count <= longestName, !name.contains(where: { $0 <= 0x20 })
        else { return .clear }
        return names.verdict(Array(name))
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
