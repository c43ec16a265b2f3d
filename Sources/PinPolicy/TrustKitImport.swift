internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// The configuration of TrustKit, with its own rules for what is valid.
///
/// Names stand with or without the `k` of the constants. Source: TrustKit 3, `TSKTrustKitConfig.h` and
/// `parseTrustKitConfiguration`, as of 2024.
package enum TrustKitImport {
    private static let rootNames = [
        "TSKPinnedDomains", "TSKSwizzleNetworkDelegates",
        "TSKIgnorePinningForUserDefinedTrustAnchors",
    ]
    private static let domainNames = [
        "TSKPublicKeyHashes", "TSKIncludeSubdomains", "TSKExcludeSubdomainFromParentPolicy",
        "TSKEnforcePinning", "TSKExpirationDate", "TSKReportUris", "TSKDisableDefaultReportUri",
        "TSKPublicKeyAlgorithms", "TSKAdditionalTrustAnchors",
    ]
    /// Read and without meaning here, and why.
    private static let ignored = [
        "TSKSwizzleNetworkDelegates": "nothing is swizzled here",
        "TSKPublicKeyAlgorithms": "the pin of every kind of key is computed alike",
        "TSKDisableDefaultReportUri": "there is no default place for reports",
        "TSKAdditionalTrustAnchors": "roots are given by TrustPolicy, not with pins",
    ]

    static func isTrustKit(_ root: LocatedJSON) -> Bool {
        root.members?.contains { rootNames.contains(plain($0.name)) } ?? false
    }

    /// Reads a configuration that is known to be TrustKit's.
    ///
    /// - Throws: ``PinPolicyError``.
    package static func read(
        _ octets: [UInt8], named name: String
    ) throws(PinPolicyError) -> PinPolicy {
        let text = PolicyText(octets: octets, name: name)
        let root: LocatedJSON
        do { root = try LocatedJSON.parse(octets) } catch {
            throw text.fault(at: error.offset ?? 0, error.what)
        }
        return try read(root, text)
    }

    static func read(
        _ root: LocatedJSON, _ text: PolicyText
    ) throws(PinPolicyError) -> PinPolicy {
        let members = try plainMembers(of: root, "the configuration", known: rootNames, text)
        guard let domains = members["TSKPinnedDomains"] else {
            throw text.fault(at: root, "TSKPinnedDomains is missing: nothing would be pinned")
        }
        guard let listed = domains.members, !listed.isEmpty else {
            throw text.fault(at: domains, "TSKPinnedDomains names no domain")
        }
        try text.checkCount(listed.count, at: domains.offset)
        var reader = DomainReader(text: text)
        if let member = members["TSKIgnorePinningForUserDefinedTrustAnchors"],
            try flag(member, "TSKIgnorePinningForUserDefinedTrustAnchors", text)
        {
            reader.userRoots = .pinsWaived
        }
        reader.note(members.keys)
        for domain in listed { try reader.read(domain) }
        try reader.checkExclusions()
        return PinPolicy(style: .trustKit, pins: reader.pins, notes: reader.notes)
    }

    private static func plain(_ name: String) -> String {
        name.hasPrefix("kTSK") ? String(name.dropFirst()) : name
    }

    private static func plainMembers(
        of value: LocatedJSON, _ what: String, known: [String], _ text: PolicyText
    ) throws(PinPolicyError) -> [String: LocatedJSON] {
        let spelled = known + known.map { "k" + $0 }
        var members: [String: LocatedJSON] = [:]
        for (name, member) in try text.members(of: value, what, known: spelled) {
            guard members.updateValue(member, forKey: plain(name)) == nil else {
                throw text.fault(at: member, "\(plain(name)) stands twice in \(what); keep one")
            }
        }
        return members
    }

    /// A property list has 0 and 1 as well.
    private static func flag(
        _ value: LocatedJSON, _ what: String, _ text: PolicyText
    ) throws(PinPolicyError) -> Bool {
        switch value.integer {
        case 0: false
        case 1: true
        default: try text.flag(value, what)
        }
    }

    /// Reads the members of `TSKPinnedDomains`.
    private struct DomainReader {
        let text: PolicyText
        var userRoots = PinRule.UserRoots.pinsApply
        private(set) var pins = PinSet()
        private(set) var notes: [String] = []
        private var seen: Set<HostPattern> = []
        private var exclusions: [(pattern: HostPattern, offset: Int)] = []

        init(text: PolicyText) { self.text = text }

        mutating func note(_ names: some Sequence<String>) {
            for name in names.sorted() {
                guard let why = TrustKitImport.ignored[name] else { continue }
                let line = "\(name) is passed over: \(why)"
                if !notes.contains(line) { notes.append(line) }
            }
        }

        mutating func read(_ domain: LocatedJSON.Member) throws(PinPolicyError) {
            let members = try TrustKitImport.plainMembers(
                of: domain.value, text.quoted(domain.name), known: TrustKitImport.domainNames,
                text)
            let exact = try text.pattern(
                domain.name, includeSubdomains: false, at: domain.nameOffset)
            guard exact.suffix == nil else {
                throw text.fault(
                    at: domain.nameOffset,
                    "\(text.quoted(domain.name)): TrustKit has no wildcards; use "
                        + "TSKIncludeSubdomains")
            }
            guard seen.insert(exact).inserted else {
                throw text.fault(at: domain.nameOffset, "\(exact) stands twice; keep one")
            }
            if let member = members["TSKExcludeSubdomainFromParentPolicy"],
                try flag(member, "TSKExcludeSubdomainFromParentPolicy")
            {
                guard members.count == 1 else {
                    throw text.fault(
                        at: domain.nameOffset,
                        "TSKExcludeSubdomainFromParentPolicy stands alone: it leaves nothing for "
                            + "other settings to say")
                }
                exclusions.append((exact, domain.nameOffset))
                pins.exempt(exact)
                return
            }
            try readPinned(domain, members)
        }

        private mutating func readPinned(
            _ domain: LocatedJSON.Member, _ members: [String: LocatedJSON]
        ) throws(PinPolicyError) {
            var includesSubdomains = false
            if let member = members["TSKIncludeSubdomains"] {
                includesSubdomains = try flag(member, "TSKIncludeSubdomains")
            }
            let pattern = try text.pattern(
                domain.name, includeSubdomains: includesSubdomains, at: domain.nameOffset)
            var rule = PinRule(try hashes(members["TSKPublicKeyHashes"]))
            if let member = members["TSKEnforcePinning"],
                try !flag(member, "TSKEnforcePinning")
            {
                rule.enforcement = .reportOnly
            }
            if let member = members["TSKExpirationDate"] {
                // TrustKit stops to pin then. Source: its `TSKPinningValidator`.
                rule.expiry = PinRule.Expiry(
                    at: try text.moment(member, "TSKExpirationDate"), then: .unpinned)
            }
            if let member = members["TSKReportUris"] {
                rule.reportURIs = try text.reportURIs(member, "TSKReportUris")
            }
            rule.userRoots = userRoots
            note(members.keys)
            do { try pins.add(rule, for: pattern) } catch {
                throw text.fault(
                    at: members["TSKPublicKeyHashes"]?.offset ?? domain.nameOffset, "\(error)")
            }
        }

        private func hashes(_ list: LocatedJSON?) throws(PinPolicyError) -> [Pin] {
            guard let list else { return [] }
            var pins: [Pin] = []
            for element in try text.list(list, "TSKPublicKeyHashes") {
                let written = try text.string(element, "a hash")
                do { pins.append(try Pin(written)) } catch {
                    throw text.fault(at: element, "hash \(text.quoted(written)): \(error)")
                }
            }
            return pins
        }

        private func flag(
            _ value: LocatedJSON, _ what: String
        ) throws(PinPolicyError) -> Bool {
            try TrustKitImport.flag(value, what, text)
        }

        /// An exclusion has to be one from something.
        func checkExclusions() throws(PinPolicyError) {
            let parents = pins.patterns.compactMap(\.suffix)
            for (pattern, offset) in exclusions {
                guard case .exact(.name(let name)) = pattern.form else { continue }
                guard parents.contains(where: { name != $0 && name.isSameOrUnder($0) }) else {
                    throw text.fault(
                        at: offset,
                        "\(pattern) is excluded from a parent's policy, but no parent has one that "
                            + "includes subdomains")
                }
            }
        }
    }
}
