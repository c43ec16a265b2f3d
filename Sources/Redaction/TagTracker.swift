/// Follows the tags of XML through a text, also where the text stands in JSON (`\u003ctoken\u003e`),
/// and says where the content of an element with a secret name begins and ends.
///
/// More ways to name a value count: the element behind one that is called `key` or `name` has
/// what that holds for its name (`<key>password</key><string>…`); and what an attribute `name`, `key` or
/// `id` has is the name of the attribute `value` behind it (`<param name="password" value="…"/>`), of
/// the text of the element (`<entry key="password">…`), and of an element `value` in it.
///
/// Prefixes and other attributes do not count. `<` always begins a new tag: XML allows it nowhere else.
/// Source: XML 1.0 §2.4, §3.1.
struct TagTracker {
    enum Event: Sendable, Hashable {
        case nothing
        /// The content of an element begins, or a CDATA section that is all of it.
        case opens(SecretNames.Verdict)
        /// The text of an element that an attribute names begins with this octet.
        case begins(SecretNames.Verdict)
        /// What follows the `<` of the tag that ends what ``enter()`` entered.
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
    /// How often an octet is wrapped up: the last one, the last `<`, the mark of an attribute, and what
    /// began the element that is left out.
    private var unitDepth = 0
    private var openDepth = 0
    private var quoteDepth = 0
    private var elementDepth = 0
    /// Of what the open element's attribute says: for the text that it begins with.
    private var texted = SecretNames.Verdict.clear
    /// That text is left out: any tag ends it.
    private var isText = false
    /// What is left out is a section whose marks are no tags.
    private var isSection = false
    /// What an element called `key` or `name` holds so far; nil in any other.
    private var label: [UInt8]?
    /// Of what such an element held: for the element behind it.
    private var labelled = SecretNames.Verdict.clear
    /// The last octet of the tag was a blank.
    private var isBetween = false
    /// The attribute that is open, and what it has so far.
    private var attribute: [UInt8] = []
    private var attributeValue: [UInt8] = []
    /// Of what the attribute of the element around says: for elements in it that are called `value`.
    private var parent = SecretNames.Verdict.clear
    private var isNamed = false
    /// There was a tag, so that what begins like one is one.
    private(set) var hasTags = false
    /// Of what the attribute `name` of the open tag says: for its `value`.
    private(set) var named = SecretNames.Verdict.clear

    /// What comes is the content of an element that is left out.
    mutating func enter() {
        depth = 1
        elementDepth = openDepth
        guard isSection else { return }
        state = .declaration
        beginning = TagTracker.cdata
        tail = []
    }

    /// - Parameter unitDepth: how often the octet is wrapped up. In `<token>a&lt;/token&gt;…</token>` no
    ///   tag ends the element but the last one.
    mutating func take(_ octet: UInt8, _ unitDepth: Int, _ names: SecretNames) -> Event {
        // Behind a backslash: a line, a tab.
        let isBlank = isEscaped && (octet == 0x6E || octet == 0x72 || octet == 0x74)
        isEscaped = octet == 0x5C
        if isEscaped { return .nothing }
        if octet == 0x3C { openDepth = unitDepth }
        self.unitDepth = unitDepth
        let isContent = depth > 0 && unitDepth > elementDepth
        return follow(isBlank || isContent ? 0x20 : octet, names)
    }

    private mutating func follow(_ octet: UInt8, _ names: SecretNames) -> Event {
        switch state {
        case .outside:
            if octet == 0x3C {
                state = .opened
            } else if octet > 0x20 {
                awaited = .clear
                if texted != .clear, depth == 0 { return beginText() }
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

    private mutating func beginText() -> Event {
        defer { texted = .clear }
        isText = true
        isSection = false
        return .begins(texted)
    }

    private mutating func opened(_ octet: UInt8, _ names: SecretNames) -> Event {
        if octet != 0x21 {
            awaited = .clear
            texted = .clear
        }
        if depth > 0, isText, octet == 0x2F || TagTracker.beginsName(octet) {
            depth = 0
            _ = opened(octet, names)
            return .closes
        }
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
        case _ where TagTracker.beginsName(octet):
            state = .name
            name = [octet]
            named = .clear
            isNamed = false
        default: state = .outside
        }
        return .nothing
    }

    private static func beginsName(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x41...0x5A, 0x61...0x7A, 0x5F, 0x80...0xFF: true
        default: false
        }
    }

    private mutating func name(_ octet: UInt8, _ names: SecretNames) -> Event {
        switch octet {
        case 0x3A: name = []
        case 0x3C: state = .opened
        case 0x00...0x20, 0x2F, 0x3E:
            verdict = name.count > TagTracker.longestName ? .clear : names.verdict(name)
            verdict = max(verdict, labelled)
            if TextScanner.isValue(name) {
                verdict = max(verdict, parent)
                parent = .clear
            }
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
            if octet == mark, unitDepth == quoteDepth {
                closeAttribute(names)
            } else if attributeValue.count <= TagTracker.longestName {
                attributeValue.append(octet)
            }
            return .nothing
        }
        switch octet {
        case 0x22, 0x27:
            guard last == 0x3D else { break }
            quote = octet
            quoteDepth = unitDepth
        case 0x00...0x20, 0x3D: break
        case 0x3E:
            state = .outside
            hasTags = true
            defer { named = .clear }
            guard last != 0x2F else {
                label = nil
                return .nothing
            }
            guard depth == 0 else {
                depth += 1
                return .nothing
            }
            awaited = max(verdict, named)
            isSection = false
            isText = named > verdict
            texted = isText ? named : .clear
            if isNamed { parent = named }
            return isText || verdict == .clear ? .nothing : .opens(verdict)
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
        if TagTracker.isNaming(attribute, or: "id") {
            isNamed = true
            named = max(named, TagTracker.verdict(ofLabel: attributeValue, names))
        }
        attribute = []
        attributeValue = []
    }

    /// Whether what is called so says what something else is called.
    private static func isNaming(_ name: [UInt8], or other: String? = nil) -> Bool {
        let part = name.split(separator: 0x3A).last ?? []
        let name = part.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return name == Array("name".utf8) || name == Array("key".utf8)
            || other.map { name == Array($0.utf8) } == true
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
            texted = .clear
            isSection = true
            isText = false
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
