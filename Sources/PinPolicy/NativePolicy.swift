internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// Our own form: see docs/pin-policy.md.
enum NativePolicy {
    private static let rootMembers = ["version", "name", "hosts", "reportTo"]
    private static let hostMembers = [
        "pattern", "includeSubdomains", "pins", "mode", "expires", "whenExpired", "allowSolePin",
        "userRoots", "reportTo", "exempt", "comment",
    ]

    static func read(
        _ root: LocatedJSON, _ text: PolicyText
    ) throws(PinPolicyError) -> PinPolicy {
        let members = try text.members(of: root, "the policy", known: rootMembers)
        guard let version = members["version"] else {
            throw text.fault(at: root, "\"version\": 1 is missing: it says what the rest means")
        }
        guard version.integer == 1 else {
            throw text.fault(at: version, "this version is not known here; 1 is")
        }
        guard let list = members["hosts"] else {
            throw text.fault(at: root, "\"hosts\" is missing: the list of what is pinned")
        }
        let hosts = try text.list(list, "hosts")
        guard !hosts.isEmpty else {
            throw text.fault(at: list, "\"hosts\" is empty: this policy would pin nothing")
        }
        try text.checkCount(hosts.count, at: list.offset)
        var reader = HostReader(text: text)
        if let reports = members["reportTo"] {
            reader.reportURIs = try text.reportURIs(reports, "reportTo")
        }
        for host in hosts { try reader.read(host) }
        var name: String?
        if let member = members["name"] { name = try text.string(member, "name") }
        return PinPolicy(style: .native, name: name, pins: reader.pins)
    }

    /// Reads the elements of `hosts`, one after the other.
    private struct HostReader {
        let text: PolicyText
        var reportURIs: [String] = []
        private(set) var pins = PinSet()
        private var seen: Set<HostPattern> = []

        init(text: PolicyText) { self.text = text }

        mutating func read(_ element: LocatedJSON) throws(PinPolicyError) {
            let members = try text.members(
                of: element, "an element of hosts", known: NativePolicy.hostMembers)
            guard let named = members["pattern"] else {
                throw text.fault(at: element, "\"pattern\" is missing: the host that is meant")
            }
            var includesSubdomains = false
            if let member = members["includeSubdomains"] {
                includesSubdomains = try text.flag(member, "includeSubdomains")
            }
            let pattern = try text.pattern(
                try text.string(named, "pattern"), includeSubdomains: includesSubdomains,
                at: named.offset)
            guard seen.insert(pattern).inserted else {
                throw text.fault(
                    at: named, "\(pattern) stands twice; put all its pins into one element")
            }
            if let exempt = members["exempt"], try text.flag(exempt, "exempt") {
                try readExempt(pattern, members, at: element)
                return
            }
            let rule = try rule(members, at: element)
            do { try pins.add(rule, for: pattern) } catch {
                throw text.fault(at: members["pins"] ?? element, message(error))
            }
        }

        private mutating func readExempt(
            _ pattern: HostPattern, _ members: [String: LocatedJSON], at element: LocatedJSON
        ) throws(PinPolicyError) {
            let allowed = ["pattern", "includeSubdomains", "exempt", "comment"]
            if let other = members.keys.sorted().first(where: { !allowed.contains($0) }) {
                throw text.fault(
                    at: members[other] ?? element,
                    "\"\(other)\" means nothing for an exempt pattern; leave it out")
            }
            pins.exempt(pattern)
        }

        private func message(_ error: PinSetError) -> String {
            if case .solePin = error {
                return "\(error): \"allowSolePin\": true"
            }
            return "\(error)"
        }

        private func rule(
            _ members: [String: LocatedJSON], at element: LocatedJSON
        ) throws(PinPolicyError) -> PinRule {
            guard let list = members["pins"] else {
                throw text.fault(
                    at: element,
                    "\"pins\" is missing; \"exempt\": true takes hosts out of a wider "
                        + "pattern")
            }
            var rule = PinRule(try pinList(list))
            if let member = members["allowSolePin"], try text.flag(member, "allowSolePin") {
                rule.backup = .waived
            }
            if let member = members["mode"] {
                rule.enforcement = try text.choice(member, "mode", PinRule.Enforcement.self)
            }
            if let member = members["userRoots"] {
                rule.userRoots = try text.choice(member, "userRoots", PinRule.UserRoots.self)
            }
            rule.reportURIs = reportURIs
            if let member = members["reportTo"] {
                rule.reportURIs = try text.reportURIs(member, "reportTo")
            }
            rule.expiry = try expiry(members)
            return rule
        }

        private func pinList(_ list: LocatedJSON) throws(PinPolicyError) -> [Pin] {
            var pins: [Pin] = []
            for element in try text.list(list, "pins") {
                let written = try text.string(element, "a pin")
                let pin: Pin
                do { pin = try Pin(written) } catch {
                    throw text.fault(at: element, "pin \(text.quoted(written)): \(error)")
                }
                guard !pins.contains(pin) else {
                    throw text.fault(at: element, "\(pin) stands twice: it is no backup of itself")
                }
                pins.append(pin)
            }
            return pins
        }

        private func expiry(
            _ members: [String: LocatedJSON]
        ) throws(PinPolicyError) -> PinRule.Expiry? {
            guard let expires = members["expires"] else {
                guard let then = members["whenExpired"] else { return nil }
                throw text.fault(at: then, "\"whenExpired\" without \"expires\": add the date")
            }
            let moment = try text.moment(expires, "expires")
            guard let then = members["whenExpired"] else {
                throw text.fault(
                    at: expires,
                    "\"expires\" without \"whenExpired\": choose fail-closed (hosts are refused), "
                        + "report-only, or unpinned")
            }
            return PinRule.Expiry(
                at: moment, then: try text.choice(then, "whenExpired", PinRule.AfterExpiry.self))
        }
    }
}
