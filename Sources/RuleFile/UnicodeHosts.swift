internal import HTTPDNSIDNA
internal import HTTPDNSNames
public import HTTPDNSRules

extension RequestMatcher {
    /// A host, or what lies under one: `api.example.com`, `*.example.com` (one label),
    /// `**.example.com` (the name itself and everything under it), `192.0.2.1`. Names may be in any
    /// script.
    ///
    /// - Throws: ``RuleFault``.
    public static func host(_ text: String) throws(RuleFault) -> RequestMatcher {
        .host(try HostText.pattern(text))
    }
}

/// Hosts as people write them.
enum HostText {
    static func pattern(_ text: String) throws(RuleFault) -> HostPattern {
        let stars = text.hasPrefix("**.") ? "**." : text.hasPrefix("*.") ? "*." : ""
        let name = try ascii(String(text.dropFirst(stars.count)), of: text)
        do { return try HostPattern(stars + name) } catch { throw RuleFault("\(error)") }
    }

    static func host(_ text: String) throws(RuleFault) -> Host {
        let bare =
            text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        if let address = try? IPAddress(bare) { return .address(address) }
        do { return .name(try HostName(try ascii(text, of: text))) } catch let fault as RuleFault {
            throw fault
        } catch {
            throw RuleFault("\"\(plain(text))\" is no host: \(error)")
        }
    }

    private static func ascii(_ name: String, of text: String) throws(RuleFault) -> String {
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return name }
        do { return try IDNA.toASCII(name) } catch {
            throw RuleFault("\"\(plain(text))\" is no host: \(error)")
        }
    }

    static func toASCII(_ name: String) throws(NameError) -> String { try IDNA.toASCII(name) }

    static func plain(_ text: String) -> String {
        HTTPDNSRules.RuleText.plain(text, most: 80)
    }
}
