internal import HTTPDNSNames

/// A rule of pins as it would have to be if the keys of a chain that it refused are meant: with the
/// new key, and with everything else that it says. Pure.
struct PinReplacement {
    let pattern: String
    let rule: PinRule
    /// The new pin first.
    private let pins: [String]

    /// - Parameters:
    ///   - leaf: The pin of the certificate that was presented.
    ///   - rule: The rule that refused it.
    init(_ leaf: Pin, in rule: PinRule, under pattern: String) {
        self.pattern = pattern
        self.rule = rule
        pins = ([leaf] + rule.sortedPins.filter { $0 != leaf }).map { "\"\($0)\"" }
    }

    /// The entry of a policy file. Source: docs/pin-policy.md, the members of `hosts`.
    var policyEntry: String {
        var members = [
            "\"pattern\": \"\(pattern)\"", "\"pins\": [\(pins.joined(separator: ", "))]",
        ]
        if rule.enforcement != .enforce {
            members.append("\"mode\": \"\(rule.enforcement.rawValue)\"")
        }
        if let expiry = rule.expiry {
            members.append("\"expires\": \"\(expiry.at.iso8601)\"")
            members.append("\"whenExpired\": \"\(expiry.then.rawValue)\"")
        }
        if rule.userRoots != .pinsApply {
            members.append("\"userRoots\": \"\(rule.userRoots.rawValue)\"")
        }
        if !rule.reportURIs.isEmpty { members.append("\"reportTo\": [\(reportURIs)]") }
        return "{" + members.joined(separator: ", ") + "}"
    }

    /// Statements for `HTTPDNSConfiguration`. A list of pins alone would drop what else a rule says.
    var swiftLines: [String] {
        let options = optionLines
        guard !options.isEmpty else {
            return [
                "try settings.trust.pins.add([\(pins.joined(separator: ", "))], for: "
                    + "\"\(pattern)\")"
            ]
        }
        let list = pins.map { "Pin(\($0))" }.joined(separator: ", ")
        return ["var rule = try PinRule([\(list)])"] + options
            + ["try settings.trust.pins.add(rule, for: HostPattern(\"\(pattern)\"))"]
    }

    private var optionLines: [String] {
        var lines: [String] = []
        if rule.enforcement != .enforce { lines.append("rule.enforcement = .reportOnly") }
        if let expiry = rule.expiry {
            lines.append(
                "rule.expiry = PinRule.Expiry(at: WallTime(secondsSince1970: "
                    + "\(expiry.at.secondsSince1970)), then: .\(expiry.then))")
        }
        if rule.userRoots != .pinsApply { lines.append("rule.userRoots = .\(rule.userRoots)") }
        if !rule.reportURIs.isEmpty { lines.append("rule.reportURIs = [\(reportURIs)]") }
        return lines
    }

    /// In quotes, for JSON and for Swift alike.
    private var reportURIs: String {
        rule.reportURIs.map { uri in
            let escaped = uri.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
            return "\"\(escaped)\""
        }.joined(separator: ", ")
    }
}
