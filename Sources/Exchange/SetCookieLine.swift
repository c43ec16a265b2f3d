package import HTTPDNSNames

/// One `Set-Cookie` field line, taken apart. Source: RFC 6265 §5.2.
///
/// Where RFC 6265bis gives a rule that RFC 6265 lacks (limits, prefixes, controls), it is followed;
/// a line without `=` or with an empty name is ignored, as RFC 6265 says.
package struct SetCookieLine: Sendable, Hashable {
    package let nameText: FieldText
    package let valueText: FieldText
    /// As written, one leading dot dropped; nil when absent or empty.
    package private(set) var domain: String?
    /// Nil when absent or not beginning with `/`.
    package private(set) var path: String?
    package private(set) var expires: WallTime?
    package private(set) var maxAgeSeconds: Int64?
    package private(set) var isSecure = false
    package private(set) var isHTTPOnly = false
    package private(set) var sameSite: SameSite?

    package enum SameSite: String, Sendable, Hashable {
        case strict, lax, none
    }

    package var name: String { nameText.text }
    package var value: String { valueText.text }

    /// - Throws: ``CookieRefusal`` when the whole line is to be ignored.
    package init(_ line: String) throws(CookieRefusal) { try self.init(FieldText(line)) }

    /// The same from the octets of a line.
    package init(_ line: FieldText) throws(CookieRefusal) {
        let line = line.wire
        guard line.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
            throw .controlCharacter
        }
        let parts = line.split(separator: 0x3B, omittingEmptySubsequences: false)
        let (name, value) = SetCookieLine.pair(parts[0])
        guard let value, !name.isEmpty else { throw .noName }
        guard name.count + value.count <= SetCookieLine.maximumPairOctets else {
            throw .tooLarge
        }
        nameText = FieldText(octets: name)
        valueText = FieldText(octets: value)
        for part in parts.dropFirst() { take(SetCookieLine.pair(part)) }
    }

    /// The later of two equal attributes counts; unknown and overlong ones are ignored.
    private mutating func take(_ attribute: (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?)) {
        let octets = attribute.value ?? []
        guard octets.count <= SetCookieLine.maximumAttributeOctets else { return }
        let value = FieldText(octets: octets).text
        switch String(decoding: attribute.name, as: UTF8.self).lowercased() {
        case "expires": if let time = CookieDate.parse(value) { expires = time }
        case "max-age": if let seconds = SetCookieLine.seconds(value) { maxAgeSeconds = seconds }
        case "domain" where !value.isEmpty:
            domain = value.hasPrefix(".") ? String(value.dropFirst()) : value
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = SameSite(rawValue: value.lowercased())
        default: return
        }
    }

    /// Both sides of the first `=`, without blanks around; no value when there is no `=`.
    private static func pair(
        _ text: ArraySlice<UInt8>
    ) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
        guard let equals = text.firstIndex(of: 0x3D) else { return (trimmed(text), nil) }
        return (trimmed(text[..<equals]), trimmed(text[equals...].dropFirst()))
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }

    /// A `Max-Age`: digits, or `-` and digits; what is too large saturates.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.utf8.drop { $0 == 0x2D }
        guard !digits.isEmpty, text.utf8.count - digits.count <= 1,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        guard text.utf8.first != 0x2D else { return -1 }
        return digits.reduce(Int64(0)) {
            $0 > Int64.max / 100 ? $0 : $0 * 10 + Int64($1 - 0x30)
        }
    }

    /// Octets of name and value together. Source: RFC 6265bis §5.6.
    static let maximumPairOctets = 4_096
    /// Octets of an attribute's value. Source: RFC 6265bis §5.6.
    private static let maximumAttributeOctets = 1_024
}

/// Why a `Set-Cookie` line was not stored. The value is not repeated: it may be a secret.
public enum CookieRefusal: Error, Sendable, Hashable {
    case controlCharacter
    /// No `=`, or nothing before it.
    case noName
    /// Name and value are more than 4 096 octets.
    case tooLarge
    /// `Domain` is not a host name.
    case badDomain(String)
    /// `Domain` does not cover the host that set the cookie.
    case foreignDomain(String)
    /// `Domain` is a public suffix: the cookie would reach hosts of other owners.
    case publicSuffix(String)
    /// A `Secure` cookie, set over `http`.
    case secureOverHTTP
    /// Set over `http`, it would hide a `Secure` cookie of that name.
    case wouldHideSecure
    /// `__Secure-` or `__Host-` without what that prefix promises.
    case brokenPrefix
}

/// The comparisons of RFC 6265, over text.
package enum CookieRules {
    /// True when `host` is `domain` or lies under it; both in canonical form.
    ///
    /// Source: RFC 6265 §5.1.3. An address matches itself alone.
    package static func domainMatches(host: String, domain: String) -> Bool {
        if host == domain { return !host.isEmpty }
        guard !domain.isEmpty, host.hasSuffix("." + domain) else { return false }
        return (try? IPAddress(host)) == nil
    }

    /// Source: RFC 6265 §5.1.4.
    package static func pathMatches(request: some StringProtocol, cookie: String) -> Bool {
        guard request.utf8.starts(with: cookie.utf8) else { return false }
        return request.utf8.count == cookie.utf8.count || cookie.utf8.last == 0x2F
            || request.utf8.dropFirst(cookie.utf8.count).first == 0x2F
    }

    /// The directory of a request's path. Source: RFC 6265 §5.1.4.
    package static func defaultPath(of path: some StringProtocol) -> String {
        let octets = Array(path.utf8)
        guard octets.first == 0x2F, let slash = octets.lastIndex(of: 0x2F), slash > 0 else {
            return "/"
        }
        return String(decoding: octets[..<slash], as: UTF8.self)
    }

    /// The domain a cookie is kept under, and whether it is for the setting host alone.
    ///
    /// A public suffix as `Domain` is refused, but that host may set cookies for itself.
    /// Source: RFC 6265 §5.3 steps 5 and 6.
    package static func scope(
        of attribute: String?, from host: Host, isPublicSuffix: (HostName) -> Bool
    ) throws(CookieRefusal) -> (domain: String, isHostOnly: Bool) {
        let own = host.description
        guard let attribute else { return (own, true) }
        if attribute == own, case .address = host { return (own, true) }
        guard attribute.utf8.last != 0x2E, let domain = try? HostName(attribute) else {
            throw .badDomain(RewriteFault.printable(attribute))
        }
        if isPublicSuffix(domain) {
            guard domain.text == own else { throw .publicSuffix(domain.text) }
            return (own, true)
        }
        guard domainMatches(host: own, domain: domain.text) else {
            throw .foreignDomain(domain.text)
        }
        return (domain.text, false)
    }
}
