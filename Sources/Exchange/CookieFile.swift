public import HTTPDNSNames

/// Cookie jars as text in the form of Netscape's cookie file, which curl, wget and browsers' tools
/// read and write.
///
/// A line is a cookie: domain, whether hosts under it get it too, path, whether it is secure, expiry in
/// seconds since 1970 (0: with the session), name, value, with tabs between. `#HttpOnly_` before the
/// domain marks a cookie that scripts do not see; any other line that begins with `#` is a remark.
/// Source: curl's HTTP-COOKIES, "Netscape cookie file format" (curl.se/docs/http-cookies.html).
extension CookieJar {
    /// The jar that a cookie file holds.
    ///
    /// Cookies that are over are left out; of two with one name, domain and path the later counts. The
    /// limits of a jar hold here too.
    ///
    /// - Parameters:
    ///   - text: the whole file.
    ///   - now: decides what is over.
    ///   - isPublicSuffix: true for a name under which others register names; no cookie of a file is
    ///     for all of them.
    /// - Throws: ``CookieFileFault``: the first line that is no cookie. Nothing is read in part: the
    ///   file would be written back without the rest.
    public init(
        netscape text: String, now: WallTime, isPublicSuffix: (HostName) -> Bool
    ) throws(CookieFileFault) {
        try self.init(netscape: Array(text.utf8), now: now, isPublicSuffix: isPublicSuffix)
    }

    /// The same from the octets of a file, which need not be UTF-8.
    ///
    /// - Parameters:
    ///   - octets: the whole file.
    ///   - now: decides what is over.
    ///   - isPublicSuffix: true for a name under which others register names.
    /// - Throws: ``CookieFileFault``, as ``init(netscape:now:isPublicSuffix:)``.
    public init(
        netscape octets: [UInt8], now: WallTime, isPublicSuffix: (HostName) -> Bool
    ) throws(CookieFileFault) {
        self.init()
        for (index, line) in octets.split(
            separator: 0x0A, omittingEmptySubsequences: false
        ).enumerated() {
            var line = line
            if line.last == 0x0D { line.removeLast() }
            let reading = CookieFileLine(line)
            switch reading {
            case .remark: continue
            case .fault(let reason): throw CookieFileFault(line: index + 1, reason: reason)
            case .cookie(let fields):
                do throws(CookieFileReason) {
                    restore(try fields.cookie(made: now, isPublicSuffix), now: now)
                } catch {
                    throw CookieFileFault(line: index + 1, reason: error)
                }
            }
        }
    }

    /// The jar as a cookie file: what has not expired, oldest first, cookies of the session included.
    ///
    /// Order of making is kept by the order of lines; times of making and last use are not. A cookie
    /// whose name holds a tab, which the form has no place for, is left out.
    /// Octets of a cookie that are not UTF-8 stand as characters in it: see ``netscapeOctets(now:)``.
    public func netscapeText(now: WallTime) -> String { netscape(now: now).text }

    /// The same as octets, each cookie with those that it was set with.
    ///
    /// - Parameter now: decides what has expired.
    public func netscapeOctets(now: WallTime) -> [UInt8] { netscape(now: now).wire }

    private func netscape(now: WallTime) -> FieldText {
        let lines = all(now: now).compactMap(CookieFileLine.text)
        return FieldText.joined(
            [FieldText(CookieFileLine.preface)]
                + lines.map { FieldText.joined([$0, "\n"], separator: "") },
            separator: "")
    }
}

/// Why a cookie file was not read.
public struct CookieFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    public let reason: CookieFileReason

    package init(line: Int, reason: CookieFileReason) {
        self.line = line
        self.reason = reason
    }

    public var description: String { "line \(line): \(reason)" }
}

/// What is wrong with a line of a cookie file. Values are not repeated: they may be secrets.
public enum CookieFileReason: Error, Sendable, Hashable, CustomStringConvertible {
    /// So many fields instead of seven.
    case fields(Int)
    /// Neither a host name nor an address.
    case badDomain(String)
    /// Neither TRUE nor FALSE: the field's name and its text.
    case badFlag(String, String)
    case badPath(String)
    case badExpiry(String)
    case noName
    case controlCharacter
    /// Name and value are more than 4 096 octets.
    case tooLarge
    /// For all hosts of a public suffix.
    case publicSuffix(String)

    public var description: String {
        switch self {
        case .fields(let count):
            "\(count) fields with tabs between, 7 expected: domain, TRUE or FALSE for hosts under it, "
                + "path, TRUE or FALSE for https only, expiry, name, value"
        case .badDomain(let text): "\"\(text)\" is neither a host name nor an address"
        case .badFlag(let name, let text): "\(name) is \"\(text)\"; TRUE or FALSE is meant"
        case .badPath(let text): "the path \"\(text)\" does not begin with /"
        case .badExpiry(let text):
            "the expiry \"\(text)\" is no number of seconds since 1970; 0 is for the session"
        case .noName: "the cookie has no name"
        case .controlCharacter: "a control character in the name or the value"
        case .tooLarge: "name and value are more than 4096 octets"
        case .publicSuffix(let name):
            "\(name) is a public suffix: the cookie would reach hosts of other owners"
        }
    }
}

/// One line, taken apart but not yet believed.
private enum CookieFileLine {
    case remark
    case cookie(CookieFileFields)
    case fault(CookieFileReason)

    static let preface = "# Netscape HTTP Cookie File\n# Written by httpdns; one cookie a line.\n\n"
    private static let httpOnlyMark = "#HttpOnly_"

    init(_ line: ArraySlice<UInt8>) {
        var rest = line
        var isHTTPOnly = false
        if rest.starts(with: CookieFileLine.httpOnlyMark.utf8) {
            isHTTPOnly = true
            rest = rest.dropFirst(CookieFileLine.httpOnlyMark.utf8.count)
        }
        guard rest.first != 0x23, rest.contains(where: { $0 != 0x20 && $0 != 0x09 }) else {
            self = isHTTPOnly ? .fault(.fields(0)) : .remark
            return
        }
        // A value may hold tabs; an empty one may have lost the last.
        let fields = rest.split(separator: 0x09, maxSplits: 6, omittingEmptySubsequences: false)
            .map { FieldText(octets: $0) }
        guard fields.count == 7 || fields.count == 6 else {
            self = .fault(.fields(fields.count))
            return
        }
        self = .cookie(CookieFileFields(texts: fields, isHTTPOnly: isHTTPOnly))
    }

    static func text(_ cookie: CookieJar.Cookie) -> FieldText? {
        guard !cookie.name.contains("\t"), !cookie.path.contains("\t") else { return nil }
        let expiry = cookie.expires.map { max($0.secondsSince1970, 1) } ?? 0
        let mark = cookie.isHTTPOnly ? httpOnlyMark : ""
        let facts = [
            mark + (cookie.isHostOnly ? "" : ".") + cookie.domain, flag(!cookie.isHostOnly),
            cookie.path, flag(cookie.isSecure), String(expiry),
        ]
        return FieldText.joined(
            facts.map { FieldText($0) } + [cookie.nameText, cookie.valueText], separator: "\t")
    }

    private static func flag(_ isSet: Bool) -> String { isSet ? "TRUE" : "FALSE" }
}

private struct CookieFileFields {
    /// Six or seven.
    let texts: [FieldText]
    let isHTTPOnly: Bool

    func cookie(
        made now: WallTime, _ isPublicSuffix: (HostName) -> Bool
    ) throws(CookieFileReason) -> CookieJar.Cookie {
        let (name, value) = (texts[5], texts.count > 6 ? texts[6] : "")
        guard !name.isEmpty else { throw .noName }
        let octets = name.wire + value.wire
        guard octets.count <= SetCookieLine.maximumPairOctets else { throw .tooLarge }
        guard octets.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
            throw .controlCharacter
        }
        let path = fields[2]
        guard path.hasPrefix("/") else { throw .badPath(RewriteFault.printable(path)) }
        let reachesBelow = try flag(fields[1], "the second field")
        let scope = try scope(reachesBelow: reachesBelow, isPublicSuffix)
        return CookieJar.Cookie(
            name: name, value: value, domain: scope.domain, isHostOnly: scope.isHostOnly,
            path: path, isSecure: try flag(fields[3], "the fourth field"), isHTTPOnly: isHTTPOnly,
            expires: try expiry(), created: now)
    }

    private var fields: [String] { texts.map(\.text) }

    private func scope(
        reachesBelow: Bool, _ isPublicSuffix: (HostName) -> Bool
    ) throws(CookieFileReason) -> (domain: String, isHostOnly: Bool) {
        let text = fields[0].hasPrefix(".") ? String(fields[0].dropFirst()) : fields[0]
        if let address = try? IPAddress(text) { return (address.description, true) }
        guard let name = try? HostName(text) else {
            throw .badDomain(RewriteFault.printable(fields[0]))
        }
        guard reachesBelow, isPublicSuffix(name) else { return (name.text, !reachesBelow) }
        throw .publicSuffix(name.text)
    }

    private func flag(_ text: String, _ name: String) throws(CookieFileReason) -> Bool {
        switch text.uppercased() {
        case "TRUE": return true
        case "FALSE": return false
        default: throw .badFlag(name, RewriteFault.printable(text))
        }
    }

    /// Nil for a cookie of the session.
    private func expiry() throws(CookieFileReason) -> WallTime? {
        guard let seconds = Int64(fields[4]) else {
            throw .badExpiry(RewriteFault.printable(fields[4]))
        }
        return seconds == 0 ? nil : WallTime(secondsSince1970: seconds)
    }
}
