public import HTTPDNSNames

/// A name as DNS messages carry it: labels of any octets.
///
/// Unlike `HostName` it may hold spaces, upper case, dots inside a label: DNS itself allows that.
/// Comparison ignores ASCII case. Source: RFC 1035 §2.3.3, RFC 4343.
public struct WireName: Sendable, Hashable, CustomStringConvertible {
    /// Each label after its length octet, without the root's zero: at most 254 octets.
    package let octets: [UInt8]

    /// Nil when a label is empty or longer than 63 octets, or the whole exceeds 255 on the wire.
    public init?(labels: [[UInt8]]) {
        var octets: [UInt8] = []
        for label in labels {
            guard (1...WireName.maximumLabelOctets).contains(label.count),
                octets.count + label.count + 2 <= WireName.maximumOctets
            else { return nil }
            octets.append(UInt8(label.count))
            octets += label
        }
        self.octets = octets
    }

    /// The wire form of a host name; always fits.
    public init(_ name: HostName) {
        guard !name.isRoot else {
            self = .root
            return
        }
        var octets: [UInt8] = []
        octets.reserveCapacity(name.text.utf8.count + 1)
        octets.append(0)
        var lengthAt = 0
        for octet in name.text.utf8 {
            if octet == 0x2E {
                lengthAt = octets.count
                octets.append(0)
            } else {
                octets.append(octet)
                octets[lengthAt] += 1
            }
        }
        self.octets = octets
    }

    /// Whether this is that host name, in any case: as `self == WireName(name)`, without making one.
    package func spells(_ name: HostName) -> Bool {
        if name.isRoot { return octets.isEmpty }
        var text = name.text
        return text.withUTF8 { text in
            guard octets.count == text.count + 1 else { return false }
            var labelEnd = 0
            for index in 0..<octets.count {
                if index == labelEnd {
                    // A dot stands between two labels, and before the first one nothing.
                    guard index == 0 || text[index - 1] == 0x2E else { return false }
                    labelEnd = index + 1 + Int(octets[index])
                } else if octets[index] == 0x2E || WireName.folded(octets[index]) != text[index - 1]
                {
                    // A dot inside a label is not one between two.
                    return false
                }
            }
            return labelEnd == octets.count
        }
    }

    /// Labels that the reader has already checked.
    init(checked octets: [UInt8]) { self.octets = octets }

    /// The root.
    public static let root = WireName(checked: [])

    /// The labels as received, left-most first; none for the root.
    public var labels: [[UInt8]] { labelStarts.map { Array(label(at: $0)) } }

    /// Presentation text without the trailing dot (`.` for the root): special octets as `\DDD` or
    /// `\.`. Source: RFC 1035 §5.1.
    public var description: String {
        guard !octets.isEmpty else { return "." }
        var text: [UInt8] = []
        for start in labelStarts {
            if start > 0 { text.append(0x2E) }
            for octet in label(at: start) { WireText.append(octet, escaping: .inName, to: &text) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Presentation text with the trailing dot, as in zone files.
    public var absoluteText: String { octets.isEmpty ? "." : description + "." }

    /// The host name this spells; nil when it breaks a host-name rule.
    public var hostName: HostName? {
        guard !octets.isEmpty else { return nil }
        var text: [UInt8] = []
        for start in labelStarts {
            let label = label(at: start)
            guard !label.contains(0x2E) else { return nil }
            if start > 0 { text.append(0x2E) }
            text += label
        }
        return try? HostName(String(decoding: text, as: UTF8.self))
    }

    /// True when this name equals `zone` or lies under it, on a label boundary.
    public func isSameOrUnder(_ zone: WireName) -> Bool {
        let extra = octets.count - zone.octets.count
        guard extra >= 0, extra == octets.count || labelStarts.contains(extra) else { return false }
        return WireName.isEqual(octets[extra...], zone.octets[...])
    }

    public static func == (lhs: WireName, rhs: WireName) -> Bool {
        lhs.octets == rhs.octets || isEqual(lhs.octets[...], rhs.octets[...])
    }

    public func hash(into hasher: inout Hasher) {
        for octet in octets { hasher.combine(WireName.folded(octet)) }
    }

    /// Where each label's length octet stands in `octets`.
    var labelStarts: [Int] {
        var starts: [Int] = []
        var at = 0
        while at < octets.count {
            starts.append(at)
            at += Int(octets[at]) + 1
        }
        return starts
    }

    private func label(at start: Int) -> ArraySlice<UInt8> {
        octets[(start + 1)..<(start + 1 + Int(octets[start]))]
    }

    /// Length octets are below 64, so folding leaves them alone and whole names compare at once.
    private static func isEqual(_ lhs: ArraySlice<UInt8>, _ rhs: ArraySlice<UInt8>) -> Bool {
        lhs.count == rhs.count && zip(lhs, rhs).allSatisfy { folded($0) == folded($1) }
    }

    private static func folded(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }

    /// Longest name on the wire, lengths and root included. Source: RFC 1035 §2.3.4.
    static let maximumOctets = 255
    /// Longest label. Source: RFC 1035 §2.3.4.
    static let maximumLabelOctets = 63
}

extension WireName {
    /// Reads presentation text: labels between dots, `\DDD` and `\X` escapes, one trailing dot
    /// allowed, `.` for the root. Source: RFC 1035 §5.1.
    ///
    /// Nil when a label is empty or too long, the whole is too long, or an escape is broken.
    public init?(text: String) {
        guard text != "." else {
            self = .root
            return
        }
        var labels: [[UInt8]] = [[]]
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            switch octet {
            case 0x2E:
                labels.append([])
            case 0x5C:
                guard let escaped = WireName.escaped(&rest) else { return nil }
                labels[labels.count - 1].append(escaped)
            default:
                labels[labels.count - 1].append(octet)
            }
        }
        if labels.last == [], labels.count > 1 { labels.removeLast() }
        self.init(labels: labels)
    }

    /// What stands after a backslash: three decimal digits, or the octet itself.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        guard let first = rest.first else { return nil }
        guard (0x30...0x39).contains(first) else { return rest.popFirst() }
        let digits = rest.prefix(3)
        guard digits.count == 3 else { return nil }
        rest = rest.dropFirst(3)
        return UInt8(String(decoding: digits, as: UTF8.self))
    }
}
