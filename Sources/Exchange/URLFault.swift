public import HTTPDNSNames

/// Why a text is not a URL that this library sends a request to.
///
/// The URL itself is not repeated: it may carry a password.
public enum URLFault: Error, Sendable, Hashable {
    /// There is no scheme, and no base to be relative to.
    case noScheme
    /// The scheme is neither `http` nor `https`.
    case unsupportedScheme(String)
    /// There is no host after the scheme or the userinfo.
    case noHost
    /// The host is not a host name.
    case badHost(NameError)
    /// The host holds an octet that no host may hold.
    case forbiddenOctet(UInt8)
    /// The host is to be read as an address, and is none; the text says why.
    case badAddress(String)
    /// The host is an IPv6 address with a zone, which means something on this machine only.
    case zone
    /// The port is not a number from 1 to 65 535.
    case badPort
    /// A form that other software reads as another URL.
    case odd(URLOddity)
}

extension URLFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noScheme: "the URL has no scheme; begin it with https:// or http://"
        case .unsupportedScheme(let scheme):
            "the URL has the scheme \"\(scheme)\"; only https and http are sent"
        case .noHost: "the URL names no host; write https://host/path"
        case .badHost(let error): "the URL's host is not a host name: \(error)"
        case .forbiddenOctet(let octet):
            "the URL's host holds the octet 0x\(String(octet, radix: 16)), which no host may hold"
        case .badAddress(let why): "the URL's host is not an IP address: \(why)"
        case .zone:
            "the URL's host has a zone (the part after '%'); a zone means something on one "
                + "machine only, so leave it out"
        case .badPort: "the URL's port is not a number from 1 to 65535"
        case .odd(let oddity): "the URL is refused because \(oddity)"
        }
    }
}

/// A form that the URL standard repairs, and that other software reads as something else.
///
/// Two readers that disagree about the host of one URL are how a check is passed for one host and
/// the request sent to another, so the door refuses every one of them.
public enum URLOddity: String, Sendable, Hashable, CaseIterable {
    /// Blanks or control characters before or behind.
    case surroundingBlanks
    /// A tab or a line break inside, which the standard removes.
    case lineBreakRemoved
    /// A control character in path, query or fragment.
    case controlCharacter
    /// `https:host` or `https:/host`.
    case missingSlashes
    /// `https:///host`.
    case extraSlashes
    /// `\` where `/` belongs.
    case backslash
    /// `%61.example` for `a.example`.
    case percentEncodedHost
    /// `127.1`, `0x7f.0.0.1`, `0177.0.0.1`, `2130706433`, `127.0.0.1.`.
    case ipv4LookAlike
    /// More than one `@` before the host.
    case severalAtSigns
}

extension URLOddity: CustomStringConvertible {
    public var description: String {
        switch self {
        case .surroundingBlanks: "it begins or ends with a blank or a control character; remove it"
        case .lineBreakRemoved: "it holds a tab or a line break; remove it"
        case .controlCharacter: "it holds a control character; percent-encode it"
        case .missingSlashes: "two slashes must follow the scheme, as in https://host/"
        case .extraSlashes: "more than two slashes follow the scheme; write https://host/"
        case .backslash: "it holds a backslash; write / or %5C"
        case .percentEncodedHost: "its host is percent-encoded; write the host itself"
        case .ipv4LookAlike:
            "some software reads its host as an IPv4 address and some does not; write four "
                + "decimal numbers without leading zeros"
        case .severalAtSigns: "more than one @ stands before its host; write %40 in the userinfo"
        }
    }
}
