/// How an octet is written that does not stand by itself.
struct Written: Sendable {
    var octets: [UInt8]
    /// How often the octet is wrapped up: `%3D` once, `%253D` twice, `&quot;` once. An escape of
    /// JSON does not count: a string that holds one means the octet itself.
    var depth: Int16
    /// How many of these times are those of XML, in which a text means the octet itself.
    var entities: Int16 = 0
    /// The backslashes that a quotation mark would have before it in the place of its escape.
    var slashes: Int32 = 0
}

/// Reads what stands in a text for other octets, piece by piece.
///
///     %3D %253D ─▶ \u003d \\u003d \x3d ─▶ &#61; &#x3D; &lt; &amp;lt; ─▶ the octet that is meant
///
/// What only begins like one of these comes out as it was. Source: RFC 3986 §2.1; RFC 8259 §7; XML 1.0
/// §4.1, §4.6.
struct EscapeReader {
    struct Unit: Sendable {
        let octet: UInt8
        var raw: Written?
    }

    /// Something has begun: the next octet belongs here.
    private(set) var isReading = false
    /// It is no more than a backslash so far.
    private var isLone = false
    private let isLight: Bool
    private let isForm: Bool
    /// The octets of a `%3D` that is not whole.
    private var percent: [UInt8] = []
    /// Backslashes, and what follows them.
    private var slashed: [Unit] = []
    private var run = 0
    /// An ampersand, and what follows it.
    private var reference: [Unit] = []
    private var ready: [Unit] = []

    init(isLight: Bool, isForm: Bool) {
        self.isLight = isLight
        self.isForm = isForm
    }

    /// Whether an octet outside of everything begins something.
    static func begins(_ octet: UInt8) -> Bool { octet == 0x25 || octet == 0x26 || octet == 0x5C }

    /// A backslash is held: most are followed by what ends no escape, and that at no cost.
    mutating func takeLone(_ octet: UInt8) -> Bool {
        guard !isReading, octet == 0x5C else { return false }
        isLone = true
        isReading = true
        return true
    }

    /// True when the backslash that is held, and the octet, stand for themselves.
    mutating func endsLone(_ octet: UInt8) -> Bool {
        guard isLone, octet != 0x75, octet != 0x78, !EscapeReader.begins(octet) else {
            return false
        }
        isLone = false
        isReading = false
        return true
    }

    /// What has come to its end with the octet.
    mutating func take(_ octet: UInt8) -> [Unit] {
        beginSlashes()
        ready.removeAll(keepingCapacity: true)
        if isLight { slash(Unit(octet: octet)) } else { takePercent(octet) }
        isReading = !percent.isEmpty || !slashed.isEmpty || !reference.isEmpty
        return ready
    }

    /// What was not whole.
    mutating func finish() -> [Unit] {
        guard isReading else { return [] }
        beginSlashes()
        ready.removeAll(keepingCapacity: true)
        loosePercent()
        looseSlashes()
        looseReference()
        isReading = false
        return ready
    }

    private mutating func beginSlashes() {
        guard isLone else { return }
        isLone = false
        slashed.append(Unit(octet: 0x5C))
        run = 1
    }

    private mutating func takePercent(_ octet: UInt8) {
        guard !percent.isEmpty else {
            guard octet == 0x25 else { return slash(Unit(octet: octet)) }
            percent.append(octet)
            return
        }
        guard let low = SecretNames.hex(octet) else {
            loosePercent()
            return takePercent(octet)
        }
        percent.append(octet)
        guard percent.count % 2 == 1, let high = SecretNames.hex(percent[percent.count - 2])
        else { return }
        let meant = high << 4 | low
        // An escaped percent sign may begin another escape.
        if meant == 0x25, percent.count < EscapeReader.longestPercent { return }
        let raw = EscapeReader.written(percent)
        percent.removeAll(keepingCapacity: true)
        slash(Unit(octet: meant, raw: raw))
    }

    /// What began like an escape and is none, or is a percent sign.
    private mutating func loosePercent() {
        guard !percent.isEmpty else { return }
        let octets = percent
        percent.removeAll(keepingCapacity: true)
        let whole = octets.count - (octets.count - 1) % 2
        let raw = whole > 1 ? EscapeReader.written(Array(octets.prefix(whole))) : nil
        slash(Unit(octet: 0x25, raw: raw))
        for octet in octets.dropFirst(whole) { slash(Unit(octet: octet)) }
    }

    private static func written(_ percent: [UInt8]) -> Written {
        Written(octets: percent, depth: Int16(clamping: (percent.count - 1) / 2))
    }

    /// All backslashes before an escape are part of it: JSON in a string of JSON doubles them.
    private mutating func slash(_ unit: Unit) {
        guard !slashed.isEmpty else {
            guard unit.octet == 0x5C else { return refer(unit) }
            slashed.append(unit)
            run = 1
            return
        }
        if slashed.count == run {
            switch unit.octet {
            case 0x5C where run < EscapeReader.longestRun:
                run += 1
                slashed.append(unit)
                return
            case 0x75, 0x78:
                slashed.append(unit)
                return
            default: break
            }
        } else if SecretNames.hex(unit.octet) != nil {
            slashed.append(unit)
            let digits = slashed[run].octet == 0x75 ? 4 : 2
            if slashed.count == run + 1 + digits { endSlashes() }
            return
        }
        looseSlashes()
        slash(unit)
    }

    private mutating func endSlashes() {
        let value = slashed[(run + 1)...].reduce(0) {
            $0 << 4 | Int(SecretNames.hex($1.octet) ?? 0)
        }
        guard value != 0x5C else { return looseSlashes() }
        var raw = EscapeReader.joined(slashed)
        if value == 0x22 || value == 0x27 { raw.slashes = EscapeReader.slashes(run) }
        slashed.removeAll(keepingCapacity: true)
        refer(Unit(octet: value < 0x80 ? UInt8(value) : 0x80, raw: raw))
    }

    private mutating func looseSlashes() {
        let units = slashed
        slashed.removeAll(keepingCapacity: true)
        for unit in units { refer(unit) }
    }

    /// `\u0022` is `\"`; `\\u0022` is that in a string, which is written `\\\"`.
    private static func slashes(_ run: Int) -> Int32 {
        run % 2 == 1 ? Int32(clamping: run) : 2 * slashes(run / 2) + 1
    }

    private static func joined(_ units: [Unit]) -> Written {
        let first = units.first?.raw
        var octets: [UInt8] = []
        for unit in units {
            if let raw = unit.raw { octets += raw.octets } else { octets.append(unit.octet) }
        }
        return Written(octets: octets, depth: first?.depth ?? 0, entities: first?.entities ?? 0)
    }

    private mutating func refer(_ unit: Unit) {
        guard !reference.isEmpty else {
            // The ampersand of a form is that between two of its fields.
            if unit.octet == 0x26, !isLight, !isForm || unit.raw != nil {
                reference.append(unit)
            } else {
                ready.append(unit)
            }
            return
        }
        switch unit.octet {
        case 0x3B:
            reference.append(unit)
            endReference()
        case 0x23 where reference.count == 1:
            reference.append(unit)
        case _
        where TextScanner.isAlphanumeric(unit.octet)
            && reference.count < EscapeReader.longestReference:
            reference.append(unit)
        default:
            looseReference()
            refer(unit)
        }
    }

    private mutating func endReference() {
        guard let meant = EscapeReader.meaning(reference.dropFirst().dropLast().map(\.octet))
        else { return looseReference() }
        var raw = EscapeReader.joined(reference)
        raw.depth += 1
        raw.entities += 1
        reference.removeAll(keepingCapacity: true)
        let unit = Unit(octet: meant, raw: raw)
        // `&amp;lt;` is `&lt;` in a text that is itself the content of an element.
        if meant == 0x26, raw.entities < EscapeReader.mostEntities {
            reference.append(unit)
        } else {
            ready.append(unit)
        }
    }

    private mutating func looseReference() {
        ready += reference
        reference.removeAll(keepingCapacity: true)
    }

    private static func meaning(_ name: [UInt8]) -> UInt8? {
        switch String(decoding: name, as: UTF8.self) {
        case "lt": return 0x3C
        case "gt": return 0x3E
        case "amp": return 0x26
        case "quot": return 0x22
        case "apos": return 0x27
        case "nbsp": return 0x20
        default: break
        }
        guard name.first == 0x23 else { return nil }
        let isHex = name.dropFirst().first.map { $0 | 0x20 } == 0x78
        let text = String(decoding: name.dropFirst(isHex ? 2 : 1), as: UTF8.self)
        guard let value = UInt32(text, radix: isHex ? 16 : 10) else { return nil }
        return value == 0xA0 ? 0x20 : value < 0x80 ? UInt8(value) : 0x80
    }

    /// Because: a URL in a URL in a URL is wrapped up twice; twice as often is more than any.
    private static let longestPercent = 9
    /// Because: JSON in a string in a string in a string has eight backslashes before a mark.
    private static let longestRun = 16
    /// Because: `&#x0000003D` is longer than anybody writes.
    private static let longestReference = 11
    /// Because: XML in XML in XML is wrapped up twice; twice as often is more than any.
    private static let mostEntities = 4
}

extension TextScanner {
    package mutating func take(_ octet: UInt8, _ out: inout [UInt8]) {
        guard escapes.isReading || EscapeReader.begins(octet) else {
            return take(octet, nil, &out)
        }
        if escapes.takeLone(octet) { return }
        if escapes.endsLone(octet) {
            take(0x5C, nil, &out)
            return take(octet, nil, &out)
        }
        for unit in escapes.take(octet) { take(unit.octet, unit.raw, &out) }
    }

    /// What began like an escape and is none.
    mutating func loose(_ out: inout [UInt8]) {
        for unit in escapes.finish() { take(unit.octet, unit.raw, &out) }
    }

    /// As it was written: by itself, or as an escape.
    func put(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) {
        if let raw { out += raw.octets } else { out.append(octet) }
    }

    mutating func hold(_ octet: UInt8, _ raw: Written?) {
        if let raw { written += raw.octets } else { written.append(octet) }
    }

    /// How often an octet is wrapped up: `=` not at all, `%3D` once, `%253D` twice.
    static func depth(_ raw: Written?) -> Int { raw.map { Int($0.depth) } ?? 0 }

    /// The same in the text of an element, in which `&amp;` is no more than an ampersand.
    static func depthInText(_ raw: Written?) -> Int {
        raw.map { Int($0.depth) - Int($0.entities) } ?? 0
    }
}
