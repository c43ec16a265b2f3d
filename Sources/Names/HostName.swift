/// A DNS host name in canonical form: lower-case A-labels, no trailing dot.
///
/// Parsing is the only way to make one, so a `HostName` needs no further checking wherever it
/// appears: it is safe to compare, to put in SNI, and to match against a certificate.
///
/// - Length: at most 253 octets, each label 1...63 octets. Source: RFC 1035 §2.3.4.
/// - Letters, digits, `-` and `_` only. `_` is allowed because names in the field carry it
///   (`_dmarc.example.com`, `my_svc.example.com`). Source: RFC 2181 §11.
/// - A name whose last label is a number (`127.1`, `0x7f.1`, `1.2.3.09`) is refused: other software
///   reads such text as an IPv4 address. Source: WHATWG URL §3.5 "ends in a number".
/// - Non-ASCII text is refused here; convert it at the door with `HTTPDNSIDNA`.
public struct HostName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The canonical text, for example `api.example.com`.
    public let text: String

    /// Parses a host name; one trailing dot is dropped, upper case becomes lower case.
    ///
    /// - Throws: ``NameError``, which says what rule broke and where.
    public init(_ text: String) throws(NameError) {
        self.text = try HostName.canonical(text)
    }

    /// The root of the tree of names, written `.`. It is no host: only a DNS question may be about it.
    /// No text is parsed to it, so nothing that comes from outside ever is this.
    package static let root = HostName(rootText: ".")

    /// What a question that we made ourselves is about, from its ``text``; nil when that is no name.
    package init?(asked text: String) {
        if text == HostName.root.text {
            self = .root
        } else if let name = try? HostName(text) {
            self = name
        } else {
            return nil
        }
    }

    private init(rootText: String) { text = rootText }

    package var isRoot: Bool { text == HostName.root.text }

    /// The labels, left-most first.
    public var labels: [Substring] { text.split(separator: ".") }

    public var description: String { text }

    /// True when this name equals `suffix` or lies under it, on a label boundary.
    ///
    /// `api.example.com` is under `example.com`; `badexample.com` is not.
    public func isSameOrUnder(_ suffix: HostName) -> Bool {
        guard text.hasSuffix(suffix.text) else { return false }
        let extra = text.utf8.count - suffix.text.utf8.count
        guard extra > 0 else { return true }
        return text.utf8[text.utf8.index(text.utf8.startIndex, offsetBy: extra - 1)] == 0x2E
    }

    public static func < (lhs: HostName, rhs: HostName) -> Bool { lhs.text < rhs.text }

    /// Longest name in text form without the trailing dot. Source: RFC 1035 §2.3.4 (255 octets on
    /// the wire, of which two are the first length and the root).
    static let maximumOctets = 253
    /// Longest label. Source: RFC 1035 §2.3.4.
    static let maximumLabelOctets = 63

    private static func canonical(_ text: String) throws(NameError) -> String {
        var octets = Array(text.utf8)
        guard !octets.isEmpty else { throw .empty }
        if octets.last == 0x2E { octets.removeLast() }
        guard !octets.isEmpty else { throw .emptyLabel(atOctet: 0) }
        guard octets.count <= maximumOctets else { throw .tooLong(octets: octets.count) }
        var labelStart = 0
        for index in 0...octets.count {
            if index == octets.count || octets[index] == 0x2E {
                let length = index - labelStart
                guard length > 0 else { throw .emptyLabel(atOctet: index) }
                guard length <= maximumLabelOctets else {
                    throw .labelTooLong(octets: length, atOctet: labelStart)
                }
                if index < octets.count { labelStart = index + 1 }
                continue
            }
            guard let folded = folded(octets[index]) else {
                throw octets[index] < 0x80
                    ? .badOctet(octets[index], atOctet: index) : .notASCII(atOctet: index)
            }
            octets[index] = folded
        }
        guard !isNumber(octets[labelStart...]) else { throw .looksLikeAddress }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The octet in lower case, or nil when a host name may not contain it.
    private static func folded(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x61...0x7A, 0x30...0x39, 0x2D, 0x5F: octet
        case 0x41...0x5A: octet | 0x20
        default: nil
        }
    }

    /// True for what an IPv4 reader would take as a number: `127`, `09`, `0x`, `0x7f`.
    ///
    /// Source: WHATWG URL §3.5, "ends in a number checker".
    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        if label.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
        guard label.count >= 2, label[label.startIndex] == 0x30,
            label[label.startIndex + 1] == 0x78
        else { return false }
        return label.dropFirst(2).allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
        }
    }
}

/// Why a text is not a host name.
public enum NameError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case emptyLabel(atOctet: Int)
    case tooLong(octets: Int)
    case labelTooLong(octets: Int, atOctet: Int)
    case badOctet(UInt8, atOctet: Int)
    case notASCII(atOctet: Int)
    case looksLikeAddress
    /// The Unicode text has no A-label form; the text says which rule of UTS 46 or IDNA2008 broke.
    case notConvertible(String)

    public var description: String {
        switch self {
        case .empty: "a host name cannot be empty"
        case .emptyLabel(let at): "empty label at octet \(at): two dots in a row or a leading dot"
        case .tooLong(let octets): "\(octets) octets long; a host name has at most 253"
        case .labelTooLong(let octets, let at):
            "the label at octet \(at) is \(octets) octets long; a label has at most 63"
        case .badOctet(let octet, let at):
            "octet 0x\(hex(octet)) at \(at) is not allowed in a host name"
        case .notASCII(let at):
            "non-ASCII text at octet \(at): convert the name to A-labels (IDNA) first"
        case .looksLikeAddress:
            "the last label is a number, so other software would read this as an IP address; "
                + "write an IPv4 address as four decimal numbers without leading zeros"
        case .notConvertible(let why): "not an internationalised domain name: \(why)"
        }
    }

    private func hex(_ octet: UInt8) -> String {
        let digits = String(octet, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
