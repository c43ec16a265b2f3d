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
    ///   file would be written back without the rest. ``CookieFileReading`` reads what can be read.
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
        let reading = CookieFileReading(octets, now: now, isPublicSuffix: isPublicSuffix)
        if let first = reading.skipped.first { throw first }
        self = reading.jar
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

    fileprivate func netscape(now: WallTime) -> FieldText {
        let lines = all(now: now).compactMap(CookieFileLine.text)
        return FieldText.joined(
            [FieldText(CookieFileLine.preface)]
                + lines.map { FieldText.joined([$0, "\n"], separator: "") },
            separator: "")
    }
}

/// A cookie file that others write, too: its cookies, and the lines that are none, one by one.
///
/// It is read as curl reads it: a byte-order mark, `\r`, a path that is missing, empty or without `/`
/// (it is `/`), an expiry that is negative or has decimals are no faults. Prefixes (`__Host-`,
/// `__Secure-`) promise here what they promise in a `Set-Cookie` field.
/// Source: curl 7.88.1, lib/cookie.c, `Curl_cookie_add`; RFC 6265bis §4.1.3.
public struct CookieFileReading: Sendable {
    /// What could be read.
    public private(set) var jar = CookieJar()
    /// The lines that hold no cookie that may be kept, in order.
    public private(set) var skipped: [CookieFileFault] = []
    /// Those lines as they stand.
    private var skippedLines: [[UInt8]] = []

    /// Reads a whole file; nothing in it is an error.
    ///
    /// - Parameters:
    ///   - octets: the whole file, which need not be UTF-8.
    ///   - now: decides what is over.
    ///   - isPublicSuffix: true for a name under which others register names.
    public init(_ octets: [UInt8], now: WallTime, isPublicSuffix: (HostName) -> Bool) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = octets.starts(with: mark) ? octets.dropFirst(mark.count) : octets[...]
        for (index, line) in text.split(
            separator: 0x0A, omittingEmptySubsequences: false
        ).enumerated() {
            let line = line.prefix { $0 != 0x0D }
            do throws(CookieFileReason) {
                switch CookieFileLine(line) {
                case .remark: continue
                case .fault(let reason): throw reason
                case .cookie(let fields):
                    jar.restore(try fields.cookie(made: now, isPublicSuffix), now: now)
                }
            } catch {
                skipped.append(CookieFileFault(line: index + 1, reason: error))
                skippedLines.append(Array(line))
            }
        }
    }

    /// `jar` as a cookie file, with the lines of this one that were skipped at its end: they are
    /// somebody else's to judge.
    ///
    /// - Parameter now: decides what has expired.
    public func octets(with jar: CookieJar, now: WallTime) -> [UInt8] {
        jar.netscapeOctets(now: now) + skippedLines.flatMap { $0 + [0x0A] }
    }
}

/// Why a line of a cookie file was not read.
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
    case badExpiry(String)
    case noName
    case controlCharacter
    /// Name and value are more than 4 096 octets.
    case tooLarge
    /// For all hosts of a public suffix.
    case publicSuffix(String)
    /// `__Secure-` or `__Host-` without what that prefix promises.
    case brokenPrefix

    public var description: String {
        switch self {
        case .fields(let count):
            "\(count) fields with tabs between, 7 expected: domain, TRUE or FALSE for hosts under it, "
                + "path, TRUE or FALSE for https only, expiry, name, value"
        case .badDomain(let text): "\"\(text)\" is neither a host name nor an address"
        case .badFlag(let name, let text): "\(name) is \"\(text)\"; TRUE or FALSE is meant"
        case .badExpiry(let text):
            "the expiry \"\(text)\" is no number of seconds since 1970; 0 is for the session"
        case .noName: "the cookie has no name"
        case .controlCharacter: "a control character in the name or the value"
        case .tooLarge: "name and value are more than 4096 octets"
        case .publicSuffix(let name):
            "\(name) is a public suffix: the cookie would reach hosts of other owners"
        case .brokenPrefix:
            "the name promises what the line does not keep: __Secure- is for https only, __Host- so, "
                + "with path / and for its host alone"
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
        var fields = rest.split(separator: 0x09, maxSplits: 6, omittingEmptySubsequences: false)
            .map { FieldText(octets: $0) }
        // Some writers leave the path out.
        if fields.count >= 5, ["TRUE", "FALSE"].contains(fields[2].text) {
            fields = rest.split(separator: 0x09, maxSplits: 5, omittingEmptySubsequences: false)
                .map { FieldText(octets: $0) }
            fields.insert("/", at: 2)
        }
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
        // Source: curl 7.88.1, lib/cookie.c: all but TRUE is for the host alone.
        let scope = try scope(reachesBelow: fields[1].uppercased() == "TRUE", isPublicSuffix)
        let cookie = CookieJar.Cookie(
            name: name, value: value, domain: scope.domain, isHostOnly: scope.isHostOnly,
            path: path, isSecure: try flag(fields[3], "the fourth field"), isHTTPOnly: isHTTPOnly,
            expires: try expiry(), created: now)
        guard cookie.keepsPrefix(hasDomain: !scope.isHostOnly) else { throw .brokenPrefix }
        return cookie
    }

    /// Source: curl 7.88.1, lib/cookie.c, `sanitize_cookie_path`.
    private var path: String {
        var path = fields[2][...]
        if path.hasPrefix("\"") { path = path.dropFirst() }
        if path.hasSuffix("\"") { path = path.dropLast() }
        return path.hasPrefix("/") ? String(path) : "/"
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

    /// Nil for a cookie of the session. What is before 1970 is over; decimals do not count.
    private func expiry() throws(CookieFileReason) -> WallTime? {
        let text = fields[4]
        let isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.utf8.split(
            separator: 0x2E, maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count - text.drop(while: { $0 == "-" }).utf8.count <= 1,
            let digits = parts.first, !digits.isEmpty,
            parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } })
        else { throw .badExpiry(RewriteFault.printable(text)) }
        // More than a number holds is far enough away.
        let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? .max
        guard seconds != 0 else { return nil }
        return WallTime(secondsSince1970: isNegative ? 0 - seconds : seconds)
    }
}
