/// The parts of a URL's text, found without judging it: what was captured need not be a good URL.
struct CapturedURL {
    /// `https`, lower case; empty without one.
    let scheme: String
    /// With userinfo and port, as written.
    let authority: Substring
    /// From the path on.
    let target: Substring

    init(_ text: String) {
        // By octets: every mark is ASCII, and this is asked once a record.
        let octets = text.utf8
        guard let colon = CapturedURL.endOfScheme(octets) else {
            scheme = ""
            authority = ""
            target = text[...]
            return
        }
        scheme = text[..<colon].lowercased()
        let start = octets.index(colon, offsetBy: 3)
        let end = octets[start...].firstIndex { CapturedURL.endsAuthority($0) } ?? octets.endIndex
        authority = text[start..<end]
        target = text[end...]
    }

    /// The place of the first `://`.
    private static func endOfScheme(_ octets: String.UTF8View) -> String.Index? {
        var rest = octets[...]
        while let colon = rest.firstIndex(of: 0x3A) {
            rest = rest[octets.index(after: colon)...]
            if rest.first == 0x2F, rest.dropFirst().first == 0x2F { return colon }
        }
        return nil
    }

    private static func endsAuthority(_ octet: UInt8) -> Bool {
        octet == 0x2F || octet == 0x3F || octet == 0x23 || octet == 0x5C
    }

    /// Lower case, without userinfo and port; IPv6 without brackets.
    var host: String {
        var place = authority.utf8
        if let at = place.lastIndex(of: 0x40) { place = place[place.index(after: at)...] }
        if place.first == 0x5B, let end = place.firstIndex(of: 0x5D) {
            return Substring(place[place.index(after: place.startIndex)..<end]).lowercased()
        }
        if let colon = place.lastIndex(of: 0x3A) { place = place[..<colon] }
        return Substring(place).lowercased()
    }

    /// True for that host and names under it.
    func isOf(_ wanted: String) -> Bool {
        let host = host
        return host == wanted || host.hasSuffix("." + wanted)
    }

    /// Without query and fragment.
    var path: Substring { target.prefix { $0 != "?" && $0 != "#" } }

    /// Without its mark; nil without one.
    var query: Substring? {
        let whole = target.prefix { $0 != "#" }
        return whole.firstIndex(of: "?").map { whole[whole.index(after: $0)...] }
    }
}
