internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPublicSuffix

// Certificates, pins and TLS connections
extension ConformanceAdapter {
    static let trustOperations: [String: Operation] = [
        "x509.verify": { (request) throws(ConformanceRequest.Fault) in
            if let policy = try request.object("policy"), !policy.members.names.isEmpty {
                return skipped("no certificate policies")
            }
            let chain = TrustOperations.Chain(
                leaf: try request.text("leaf"), intermediates: try request.texts("intermediates"),
                roots: try request.texts("roots"), time: try request.optionalInteger("time"))
            return judged(
                TrustOperations.verify(
                    chain, host: try reference(request), demands: try demands(request),
                    isPublicSuffix: isPublicSuffix))
        },
        "x509.hostmatch": { (request) throws(ConformanceRequest.Fault) in
            guard let host = try reference(request) else { throw request.missing("host") }
            return judged(TrustOperations.hostMatch(leaf: try request.text("leaf"), host: host))
        },
        "pin.spki": { (request) throws(ConformanceRequest.Fault) in
            text("sha256", TrustOperations.pinOfKey(certificate: try request.text("cert")))
        },
        "pin.check": pinCheck,
        "tls.connect": connect,
    ]

    @Sendable private static func pinCheck(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> JSONObject {
        let sent = try request.texts("chain")
        guard let leaf = sent.first else { throw request.missing("chain[0]") }
        guard let policy = try request.object("policy") else { throw request.missing("policy") }
        let chain = TrustOperations.Chain(
            leaf: leaf, intermediates: Array(sent.dropFirst()), roots: try request.texts("roots"),
            time: try request.optionalInteger("time"))
        let decision = TrustOperations.checkPins(
            chain, host: try request.text("host"), rules: try rules(policy))
        switch decision {
        case .allow: return ["ok": true, "decision": "allow"]
        case .notPinned: return ["ok": true, "decision": "not-pinned"]
        case .block(let reason):
            return ["ok": false, "decision": "block", "error": .string(reason)]
        }
    }

    @Sendable private static func connect(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> JSONObject {
        let target = try request.text("connect")
        guard let colon = target.lastIndex(of: ":"), target[..<colon] == "127.0.0.1",
            let port = UInt16(target[target.index(after: colon)...])
        else { return skipped("connections go to 127.0.0.1 only") }
        guard let host = try reference(request) else {
            return skipped("a connection without a host to prove")
        }
        let chain = TrustOperations.Chain(
            leaf: "", intermediates: [], roots: try request.texts("roots"),
            time: try request.optionalInteger("time"))
        return judged(
            TrustOperations.connect(
                port: port, host: host, chain: chain,
                rules: try request.object("pins").map(rules) ?? [],
                isPublicSuffix: isPublicSuffix))
    }

    private static func judged(_ answer: TrustOperations.Answer) -> JSONObject {
        switch answer {
        case .accepted: ["ok": true]
        case .refused(let reason): ["ok": false, "error": .string(reason)]
        case .skipped(let reason): skipped(reason)
        }
    }

    private static func reference(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> TrustOperations.Reference? {
        guard let host = try request.object("host") else { return nil }
        return TrustOperations.Reference(
            kind: try host.text("kind"), value: try host.text("value"))
    }

    private static func demands(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> TrustOperations.Demands {
        var demands = TrustOperations.Demands()
        demands.usages = try request.texts("eku")
        demands.maximumIntermediates = try request.optionalInteger("max_depth").map {
            Int(clamping: $0)
        }
        demands.revocationLists = try request.texts("crls")
        demands.options = try request.optionalTexts("opts")
        demands.peerKind = try request.optionalText("kind") ?? demands.peerKind
        return demands
    }

    private static func rules(
        _ policy: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> [TrustOperations.PinnedDomain] {
        var rules: [TrustOperations.PinnedDomain] = []
        for domain in policy.members.names {
            guard let entry = try policy.object(domain) else { continue }
            var rule = TrustOperations.PinnedDomain(
                domain: domain, pins: try entry.texts("spki_sha256"),
                includesSubdomains: try entry.flag("include_subdomains"),
                isEnforced: try entry.flag("enforce", absent: true),
                expires: try entry.optionalInteger("expires"))
            rule.isExcluded = try entry.flag("exclude")
            rules.append(rule)
        }
        return rules
    }

    @Sendable private static func isPublicSuffix(_ text: String) -> Bool {
        (try? HostName(text)).map { PublicSuffix.isPublicSuffix($0) } ?? false
    }
}
