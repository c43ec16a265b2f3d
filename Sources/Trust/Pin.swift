internal import HTTPDNSNames

/// The SHA-256 of a certificate's SubjectPublicKeyInfo (DER). Source: RFC 7469 §2.4.
public struct Pin: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Exactly 32 octets.
    public let sha256: [UInt8]

    /// Nil unless there are exactly 32 octets.
    public init?(sha256: some Collection<UInt8>) {
        guard sha256.count == Pin.octets else { return nil }
        self.sha256 = Array(sha256)
    }

    /// Parses a pin as people write it: `sha256/` and base64 (RFC 7469 §2.4 as OkHttp and curl
    /// spell it, `sha256//` too), bare base64 of 32 octets, or 64 hexadecimal digits with or
    /// without colons.
    ///
    /// - Throws: ``PinError``, which says what is wrong with the text.
    public init(_ text: String) throws(PinError) {
        self.sha256 = try Pin.parsed(text)
    }

    /// A digest is its own hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sha256.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
    }

    /// `sha256/` and 44 characters of base64.
    public var description: String { "sha256/" + Base64.encoded(sha256) }

    public static func < (lhs: Pin, rhs: Pin) -> Bool {
        lhs.sha256.lexicographicallyPrecedes(rhs.sha256)
    }

    /// Source: FIPS 180-4, the length of SHA-256.
    private static let octets = 32

    private static func parsed(_ text: String) throws(PinError) -> [UInt8] {
        let characters = Array(text.utf8)
        guard !characters.isEmpty else { throw .empty }
        guard characters.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .whiteSpace }
        var body = characters[...]
        if let slash = characters.firstIndex(of: 0x2F),
            let name = algorithm(characters[..<slash])
        {
            guard name == "sha256" else { throw .algorithm(name) }
            body = characters[(slash + 1)...]
            // curl writes two slashes; no base64 of 32 octets is 45 characters long.
            if body.count == 45, body.first == 0x2F { body = body.dropFirst() }
        } else if let octets = hexadecimal(characters) {
            return octets
        }
        guard let octets = Base64.decoded(String(decoding: body, as: UTF8.self)) else {
            throw .notBase64
        }
        guard octets.count == Pin.octets else { throw .length(octets: octets.count) }
        return octets
    }

    /// The name of an algorithm in lower case (`sha256`, `md5`), when that is what stands there.
    private static func algorithm(_ text: ArraySlice<UInt8>) -> String? {
        let name = String(decoding: text, as: UTF8.self).lowercased()
        return ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"].contains(name) ? name : nil
    }

    private static func hexadecimal(_ characters: [UInt8]) -> [UInt8]? {
        let digits = characters.filter { $0 != 0x3A }
        guard digits.count == 2 * Pin.octets else { return nil }
        var octets: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard pair.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
                let octet = UInt8(pair, radix: 16)
            else { return nil }
            octets.append(octet)
        }
        return octets
    }
}

/// Why a text is not a pin.
public enum PinError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    /// A space, a control character or a non-ASCII letter.
    case whiteSpace
    /// Another digest than SHA-256: `sha1`, `md5`.
    case algorithm(String)
    case notBase64
    /// Base64, but not of 32 octets.
    case length(octets: Int)

    public var description: String {
        switch self {
        case .empty: "a pin cannot be empty; " + PinError.forms
        case .whiteSpace:
            "a pin cannot contain spaces, control or non-ASCII characters; " + PinError.forms
        case .algorithm(let name): "\(name) pins are not supported; " + PinError.forms
        case .notBase64: "neither base64 nor 64 hexadecimal digits; " + PinError.forms
        case .length(let octets):
            "\(octets) octets long, a SHA-256 has 32; " + PinError.forms
        }
    }

    private static let forms =
        "write 'sha256/' and the 44 characters of base64 of the SHA-256 of the public key "
        + "(SubjectPublicKeyInfo), or that base64 alone, or 64 hexadecimal digits"
}
