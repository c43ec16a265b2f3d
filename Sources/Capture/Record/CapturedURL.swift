/// The parts of a URL's text, found without judging it: what was captured need not be a good URL.
struct CapturedURL {
    /// `https`, lower case; empty without one.
    let scheme: String
    /// With userinfo and port, as written.
    let authority: Substring
    /// From the path on.
    let target: Substring

    init(_ text: String) {
        guard let mark = text.firstRange(of: "://") else {
            scheme = ""
            authority = ""
            target = text[...]
            return
        }
        scheme = text[..<mark.lowerBound].lowercased()
        let rest = text[mark.upperBound...]
        let end = rest.firstIndex { "/?#\\".contains($0) } ?? rest.endIndex
        authority = rest[..<end]
        target = rest[end...]
    }

    /// Lower case, without userinfo and port; IPv6 without brackets.
    var host: String {
        var place = authority
        if let at = place.lastIndex(of: "@") { place = place[place.index(after: at)...] }
        if place.first == "[", let end = place.firstIndex(of: "]") {
            return place[place.index(after: place.startIndex)..<end].lowercased()
        }
        if let colon = place.lastIndex(of: ":") { place = place[..<colon] }
        return place.lowercased()
    }

    /// Without query and fragment.
    var path: Substring { target.prefix { $0 != "?" && $0 != "#" } }

    /// Without its mark; nil without one.
    var query: Substring? {
        let whole = target.prefix { $0 != "#" }
        return whole.firstIndex(of: "?").map { whole[whole.index(after: $0)...] }
    }
}
