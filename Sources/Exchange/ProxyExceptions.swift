public import HTTPDNSNames

/// Hosts that are reached without a proxy, as `no_proxy` lists them.
///
/// A list has commas or blanks between. `*` is every host; `example.com`, `.example.com` and
/// `*.example.com` are the domain and all below it; `192.0.2.7`, `2001:db8::1`, `[2001:db8::1]` an
/// address, `192.0.2.0/24` a block of them; each with `:port` behind it for that port alone (an IPv6
/// address in brackets). Source: curl 7.88.1, lib/noproxy.c; Go, golang.org/x/net/http/httpproxy, which
/// means by `.example.com` only what is below.
public struct ProxyExceptions: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case all
        case block(AddressBlock)
        /// The domain and all below it.
        case domain(HostName)
    }

    private struct Entry: Sendable, Hashable {
        let rule: Rule
        let port: Port?
    }

    private var entries: [Entry] = []
    /// What stands in the list and cannot be read: it excepts nothing.
    public private(set) var unread: [ProxyExceptionFault] = []

    public init() {}

    /// Reads a list. What cannot be read counts for nothing, and is told by ``unread``.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - toASCII: for names that are not ASCII.
    public init(_ list: String, toASCII: DomainToASCII = HTTPURL.refusingUnicode) {
        for item in list.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            do throws(ProxyExceptionFault) {
                entries.append(try ProxyExceptions.entry(item, toASCII))
            } catch {
                unread.append(error)
            }
        }
    }

    func contain(_ host: Host, port: Port) -> Bool {
        entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            switch (entry.rule, host) {
            case (.all, _): return true
            case (.block(let block), .address(let address)): return block.contains(address)
            case (.domain(let domain), .name(let name)):
                return name == domain || name.text.hasSuffix("." + domain.text)
            default: return false
            }
        }
    }

    private static func entry(
        _ item: Substring, _ toASCII: DomainToASCII
    ) throws(ProxyExceptionFault) -> Entry {
        if let block = try? AddressBlock(String(item)) {
            return Entry(rule: .block(block), port: nil)
        }
        guard item.firstRange(of: "://") == nil else {
            throw ProxyExceptionFault(item, "it is a URL; write its host alone")
        }
        let (host, port) = try parts(item)
        if host == "*" { return Entry(rule: .all, port: port) }
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard let address = try? IPAddress(String(host.dropFirst().dropLast())),
                address.family == .ipv6, let block = AddressBlock(address, prefixBits: 128)
            else { throw ProxyExceptionFault(item, "no IPv6 address stands between the brackets") }
            return Entry(rule: .block(block), port: port)
        }
        if let block = try? AddressBlock(String(host)) {
            return Entry(rule: .block(block), port: port)
        }
        return Entry(rule: .domain(try domain(host, of: item, toASCII)), port: port)
    }

    private static func parts(
        _ item: Substring
    ) throws(ProxyExceptionFault) -> (host: Substring, port: Port?) {
        // Behind the last colon, unless that stands between brackets.
        guard let colon = item.lastIndex(of: ":"), item[colon...].firstIndex(of: "]") == nil else {
            return (item, nil)
        }
        guard let port = Port(item[item.index(after: colon)...]) else {
            throw ProxyExceptionFault(item, "a port is a number from 1 to 65535")
        }
        return (item[..<colon], port)
    }

    private static func domain(
        _ host: Substring, of item: Substring, _ toASCII: DomainToASCII
    ) throws(ProxyExceptionFault) -> HostName {
        var domain = host
        if domain.hasPrefix("*.") { domain = domain.dropFirst() }
        if domain.hasPrefix(".") { domain = domain.dropFirst() }
        let name: HostName
        do throws(NameError) {
            let isASCII = domain.utf8.allSatisfy { $0 < 0x80 }
            name = try HostName(isASCII ? String(domain) : try toASCII(String(domain)))
        } catch {
            throw ProxyExceptionFault(item, "\(error)")
        }
        // In URLs such a name is an address or nothing. Source: WHATWG URL, "ends in a number".
        guard name.labels.last?.utf8.allSatisfy({ (0x30...0x39).contains($0) }) != true else {
            throw ProxyExceptionFault(item, "it ends as an address does, and is none")
        }
        return name
    }
}

/// What stands in a list of exceptions and cannot be read.
public struct ProxyExceptionFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What stands there, short, without control characters and user information.
    public let text: String
    /// What is wrong with it.
    public let reason: String

    init(_ item: Substring, _ reason: String) {
        // What stands before it may be a password.
        let host = item.lastIndex(of: "@").map { item[item.index(after: $0)...] } ?? item
        text = RewriteFault.printable(String(host))
        self.reason = reason
    }

    public var description: String { "\"\(text)\": \(reason)" }
}
