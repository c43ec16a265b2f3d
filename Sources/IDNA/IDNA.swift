internal import CHTTPDNSIdn2
public import HTTPDNSNames

extension HostName {
    /// Parses a host name that may hold Unicode text: `bücher.example` becomes
    /// `xn--bcher-kva.example`.
    ///
    /// - Throws: ``HTTPDNSNames/NameError``.
    public init(unicode text: String) throws(NameError) {
        try self.init(try IDNA.toASCII(text))
    }
}

/// Internationalised domain names, through libidn2: UTS 46 with non-transitional processing.
///
/// libidn2 holds labels to IDNA2008, which knows no symbols; names such as `☃.example` exist and
/// UTS 46 allows them, so ``CarriedScalars`` takes such labels past it.
public enum IDNA {
    /// The domain in A-labels, as a URL's host is converted: hyphens may stand anywhere, `_` is
    /// allowed, lengths are not checked. ASCII text becomes lower case and is not judged.
    ///
    /// What comes back is not yet a host name; ``HTTPDNSNames/HostName`` judges that.
    /// Source: UTS 46 §4; WHATWG URL §3.3 "domain to ASCII" with *beStrict* false.
    ///
    /// - Throws: ``HTTPDNSNames/NameError/notConvertible(_:)`` with the rule that broke, or
    ///   ``HTTPDNSNames/NameError/tooLong(octets:)`` beyond 4 096 octets of text that is not ASCII.
    public static func toASCII(_ domain: String) throws(NameError) -> String {
        if domain.utf8.allSatisfy({ $0 < 0x80 }) { return domain.lowercased() }
        // A redirect may name a host of a quarter megabyte, and each of its labels costs calls into C.
        guard domain.utf8.count <= longestText else { throw .tooLong(octets: domain.utf8.count) }
        return try converted(domain, .url)
    }

    /// Octets of UTF-8.
    ///
    /// Because: 16 times the longest name; no text this long becomes one, ignored characters aside.
    private static let longestText = 4_096

    /// The domain in A-labels, under UTS 46 with all checks: STD3, hyphens, DNS lengths.
    ///
    /// - Throws: ``HTTPDNSNames/NameError/notConvertible(_:)``.
    package static func toASCIIStrictly(_ domain: String) throws(NameError) -> String {
        let text = try converted(domain, .strict)
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.utf8.count) }) else {
            throw .notConvertible(
                "a label is empty or longer than 63 octets, or all longer than 253")
        }
        guard labels.allSatisfy({ $0.utf8.allSatisfy(isLetterDigitHyphen) }) else {
            throw .notConvertible("only letters, digits and '-' may stand in a label")
        }
        return text
    }

    /// The name as people read it; a label that has no Unicode form stays as it is.
    public static func toUnicode(_ name: HostName) -> String {
        name.labels.map { unicodeLabel(String($0)) }.joined(separator: ".")
    }

    enum Rules {
        /// CheckHyphens and UseSTD3ASCIIRules false.
        case url
        /// Both true.
        case strict
    }

    private static func converted(_ domain: String, _ rules: Rules) throws(NameError) -> String {
        let mapped = LaterMappings.apply(to: domain)
        var labels: [String] = []
        for label in mapped.split(omittingEmptySubsequences: false, whereSeparator: isDot) {
            labels.append(try converted(label: String(String.UnicodeScalarView(label)), rules))
        }
        try BidiDomain.check(labels.map(unicodeLabel))
        return labels.joined(separator: ".")
    }

    private static func converted(label: String, _ rules: Rules) throws(NameError) -> String {
        let lower = label.lowercased()
        let isASCII = label.utf8.allSatisfy { $0 < 0x80 }
        if isASCII, !lower.hasPrefix("xn--"), rules == .url || lower.isEmpty { return lower }
        switch Library.toASCII(label) {
        case .success(let text): return text
        case .failure(let fault):
            guard fault.isAboutScalars else { throw .notConvertible(fault.description) }
            // An A-label must come out as it went in. Source: UTS 46 §4 step 4.1.
            let source = isASCII && lower.hasPrefix("xn--") ? Library.toUnicode(lower) : label
            guard let source, let text = CarriedScalars(rules).convert(source),
                !isASCII || text == lower
            else { throw .notConvertible(fault.description) }
            return text
        }
    }

    private static func unicodeLabel(_ label: String) -> String {
        label.hasPrefix("xn--") ? Library.toUnicode(label) ?? label : label
    }

    /// Source: UTS 46 §4 (the full stops that map to U+002E).
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        [0x2E, 0x3002, 0xFF0E, 0xFF61].contains(scalar.value)
    }

    private static func isLetterDigitHyphen(_ octet: UInt8) -> Bool {
        (0x61...0x7A).contains(octet) || (0x30...0x39).contains(octet) || octet == 0x2D
    }
}

/// The two calls into libidn2.
enum Library {
    struct Fault: Error {
        let code: Int32
        var description: String { String(cString: idn2_strerror(code)) }
        /// True for rules that IDNA2008 has and UTS 46 leaves out or leaves to choice.
        var isAboutScalars: Bool {
            // Unassigned in the Unicode version of libidn2 only, as the caller's tables say.
            [IDN2_DISALLOWED, IDN2_UNASSIGNED, IDN2_2HYPHEN, IDN2_HYPHEN_STARTEND]
                .contains { $0.rawValue == code }
        }
    }

    static func toASCII(_ text: String) -> Result<String, Fault> {
        // A NUL would end the text early for a C reader.
        guard !text.utf8.contains(0) else {
            return .failure(Fault(code: IDN2_DISALLOWED.rawValue))
        }
        var output: UnsafeMutablePointer<CChar>?
        let code = idn2_to_ascii_8z(text, &output, Int32(IDN2_NONTRANSITIONAL.rawValue))
        defer { idn2_free(output) }
        guard code == IDN2_OK.rawValue, let output else { return .failure(Fault(code: code)) }
        return .success(String(cString: output))
    }

    static func toUnicode(_ text: String) -> String? {
        guard !text.utf8.contains(0) else { return nil }
        var output: UnsafeMutablePointer<CChar>?
        let code = idn2_to_unicode_8z8z(text, &output, 0)
        defer { idn2_free(output) }
        guard code == IDN2_OK.rawValue, let output else { return nil }
        return String(cString: output)
    }
}
