import HTTPDNS
import HTTPDNSPinLab
import Testing

/// What each fault of a service must end in, for each provider.
///
/// A fault that a provider's protocol does not have changes nothing.
enum FaultTable {
    /// Those that only the end of patience ends.
    static let slow: Set<String> = ["late", "silent", "slow-loris"]

    /// In the words of ``Outcome/text``.
    static func outcome(_ fault: String, _ item: FixtureCase) -> String {
        if let outcome = everywhere[fault] { return outcome }
        if fault.hasPrefix("refuses-") { return refusal(fault, item) }
        return told(fault, item) ?? field(fault, item) ?? encryption(fault, item)
            ?? clock(fault, item) ?? (item.tellsTTL ? "ok" : "ttl 60")
    }

    private static let everywhere = [
        "lies-loopback": "told loopback", "lies-by-server": "told loopback",
        "lies-private": "refused_addresses", "lies-zero": "refused_addresses",
        "lies-benchmark": "refused_addresses", "lies-search-page": "told 203.0.113.66",
        "redirect-http": "status 302", "captive-portal": "malformed", "other-json": "malformed",
        "truncated": "unreachable", "slow-loris": "timed_out", "late": "timed_out",
        "silent": "timed_out", "huge": "malformed", "status-413": "status 413",
        "status-429": "status 429", "status-500": "status 500", "status-503": "status 503",
        "reset-after-head": "unreachable", "closed": "unreachable",
        "certificate-wrong-name": "untrusted", "certificate-expired": "untrusted",
        "certificate-self-signed": "untrusted", "certificate-missing-intermediate": "untrusted",
    ]

    // Names without addresses
    private static func told(_ fault: String, _ item: FixtureCase) -> String? {
        switch fault {
        case "empty": "none"
        // What speaks DNS can say that a name does not exist.
        case "denied":
            (item.family == .dns && item.provider != "wangsu") || item.provider == "alidns-paid"
                ? "no name" : item.family == .ucloud ? "rejected FAIL_TO_RESOLVE" : "none"
        // In text nothing is an answer; elsewhere it is none.
        case "empty-nothing":
            item.isText ? "none" : item.family == .ucloud ? "status 404" : "malformed"
        case let other where other.hasPrefix("empty-"):
            item.family == .ucloud ? "rejected FAIL_TO_RESOLVE" : "none"
        default: nil
        }
    }

    // Members that are missing, or of another kind
    private static func field(_ fault: String, _ item: FixtureCase) -> String? {
        let isMessage = item.title.hasPrefix("doh")
        switch fault {
        case "no-ttl" where !isMessage: return "ttl 60"
        // Aliyun's own libraries take a minute for what is no lifetime.
        case "ttl-zero", "ttl-negative", "ttl-huge":
            if item.provider == "aliyun-v2" || !item.tellsTTL { return "ttl 60" }
            // A hyphen parts families there, or is no digit.
            return fault == "ttl-negative" && item.isText ? "malformed" : "ttl 0"
        case "ttl-text" where item.isText: return "malformed"
        // JSON that cannot be read is asked for again as a DNS message, where there are any.
        case "no-data" where item.provider == "alidns-paid": return "malformed"
        // Source: RFC 8484 §5.1: what is 30 seconds old has none of its 30 left.
        case "aged" where isMessage: return "ttl 0"
        default: return nil
        }
    }

    private static func encryption(_ fault: String, _ item: FixtureCase) -> String? {
        guard item.cipher != .none else { return nil }
        let spoils =
            switch fault {
            case "wrong-key", "truncated-iv": true
            case "bad-padding": item.cipher != .gcm
            case "flipped-tag": item.cipher == .gcm
            case "plain-data": item.provider == "aliyun-v2"
            default: false
            }
        return spoils ? "malformed" : nil
    }

    // The service's clock is two hours off
    private static func clock(_ fault: String, _ item: FixtureCase) -> String? {
        switch fault {
        case "clock-ahead": return item.wrongClock
        // Where a signature may be valid for a day, two hours more are no matter.
        case "clock-behind":
            switch item.family {
            case .ucloud: return "rejected UNAUTHORIZED"
            case .aliyun where item.provider.hasPrefix("alidns"),
                .aliyun where item.provider.hasPrefix("yunaq"):
                return "rejected InvalidDuration"
            default: return nil
            }
        default: return nil
        }
    }
}

// Refusals
extension FaultTable {
    private static func refusal(_ fault: String, _ item: FixtureCase) -> String {
        let row = refusals[String(fault.dropFirst("refuses-".count))] ?? []
        guard row.count == FixtureCase.Family.allCases.count,
            let column = FixtureCase.Family.allCases.firstIndex(of: item.family)
        else { return "not in the table" }
        if fault == "refuses-wrong-method", item.title.hasPrefix("doh") { return "status 405" }
        let text = row[column]
        return (Int(text) != nil && item.family.refusesByStatus ? "status " : "rejected ") + text
    }

    /// In the order of ``FixtureCase/Family``.
    private static let refusals = [
        "unknown-account": [
            "InvalidAccount", "401", "403", "AccountInvalid", "InvalidSignature", "UNAUTHORIZED",
            "403",
        ],
        "closed-account": [
            "AccountNotExists", "401", "403", "AccountInvalid", "InvalidSignature",
            "UNAUTHORIZED", "403",
        ],
        "unsigned": [
            "UnsignedInterfaceDisabled", "401", "403", "SignatureInvalid", "InvalidSignature",
            "UNAUTHORIZED", "403",
        ],
        "wrong-signature": [
            "InvalidSignature", "401", "403", "SignatureInvalid", "InvalidSignature",
            "UNAUTHORIZED", "403",
        ],
        "expired": [
            "SignatureExpired", "401", "403", "SignatureExpired", "SignatureExpired",
            "UNAUTHORIZED", "400",
        ],
        "too-far-ahead": [
            "InvalidDuration", "401", "403", "TimestampInvalid", "InvalidTimestamp",
            "UNAUTHORIZED", "400",
        ],
        "missing-argument": [
            "MissingArgument", "404", "403", "ParameterInvalid", "InvalidTimestamp",
            "BAD_REQUEST", "400",
        ],
        "wrong-name": [
            "InvalidHost", "404", "403", "ParameterInvalid", "400", "BAD_REQUEST", "400",
        ],
        "forbidden-name": [
            "InvalidHost", "404", "403", "ParameterInvalid", "400", "HOST_FORBIDDEN", "400",
        ],
        "too-many-names": [
            "TooManyHosts", "404", "403", "ParameterInvalid", "TooManyHosts", "BAD_REQUEST", "400",
        ],
        "wrong-type": [
            "MissingArgument", "404", "403", "ParameterInvalid", "InvalidType", "BAD_REQUEST",
            "400",
        ],
        "wrong-custom-parameters": [
            "SdnsNotSupported", "404", "403", "ParameterInvalid", "400", "BAD_REQUEST", "400",
        ],
        "no-address": [
            "InvalidHost", "404", "403", "ParameterInvalid", "400", "FAIL_TO_RESOLVE", "400",
        ],
        "wrong-method": [
            "MethodNotAllowed", "501", "405", "ParameterInvalid", "400", "BAD_REQUEST", "501",
        ],
        "wrong-media": [
            "MissingArgument", "404", "403", "ParameterInvalid", "400", "BAD_REQUEST", "415",
        ],
        "too-long": [
            "MissingArgument", "404", "403", "ParameterInvalid", "400", "BAD_REQUEST", "413",
        ],
        "overloaded": [
            "ServiceLevelDeny", "429", "429", "TooManyRequests", "429", "TOO_MANY_REQUESTS", "429",
        ],
        "broken": [
            "InternalError", "501", "500", "InternalError", "500", "FAIL_TO_RESOLVE", "500",
        ],
    ]
}

extension FixtureCase {
    /// How a service says no.
    enum Family: CaseIterable {
        case aliyun, tencent, volcengine, baidu, qiniu, ucloud, dns

        /// Whether by HTTP's status alone.
        var refusesByStatus: Bool { self == .tencent || self == .volcengine || self == .dns }
    }

    var family: Family {
        switch provider {
        case let name where name.hasPrefix("dnspod"): .tencent
        case "volcengine": .volcengine
        case "baidu": .baidu
        case "qiniu": .qiniu
        case "ucloud": .ucloud
        case "google", "google-json", "cloudflare-json": .dns
        case "wangsu": .dns
        default: .aliyun
        }
    }

    /// Whether answers are lines of text.
    var isText: Bool { family == .tencent || provider == "yunaq-text" }

    enum AnswerCipher { case none, block, gcm }

    var cipher: AnswerCipher {
        if encryption == .aesGCM { return .gcm }
        let isBlock =
            ["dnspod-des", "dnspod-aes", "yunaq-encrypted"].contains(provider)
            || encryption == .aesCBC
        return isBlock ? .block : .none
    }
}
