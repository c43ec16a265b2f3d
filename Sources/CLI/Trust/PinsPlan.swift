internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPinPolicy
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// `httpdns pins plan`.
enum PinsPlan {
    /// What comes next: the chain or the keys of one file.
    private struct Next {
        let file: String
        /// Pins that the verified chain will have, each with the name of its certificate.
        var keys: [(pin: Pin, name: String)]
        /// Nil where the file has no certificate: it may be for any host.
        let leaf: CertificateFacts?
        /// Which certificate is not valid on the day of the change, and why.
        var undated: String?
        /// Certificates of the file that are not valid then, and may not matter.
        var remarks: [String] = []
    }

    private struct Outlook {
        let pattern: HostPattern
        let rule: PinRule
        var survives: Bool
        var reason: String
        var files: [String]
        var warnings: [String] = []
    }

    static func run(
        _ words: [String], _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> ExitCode {
        let pins = try PinFile.policy(arguments, console).pins
        let files = arguments.values(.next) + words
        guard arguments.has(.next) else {
            throw .usage("--next FILE is missing: the certificates or public keys that come next")
        }
        let ofPeers = [OptionRule.connect, .resolver] + OptionRule.fetchTrust
        for rule in ofPeers where arguments.has(rule) {
            throw .usage("--\(rule.name) means nothing for plan: nobody is connected to")
        }
        let moment = try arguments.moment() ?? SystemWallClock().now()
        var chains: [Next] = []
        var code = ExitCode.succeeded
        // One that cannot be read keeps no other from it; a plan without it is none.
        for file in files {
            do throws(CommandFault) { chains.append(try next(file, arguments, at: moment)) } catch {
                if arguments.has(.json) { console.print(json: json(error, file: file)) }
                console.note(error.message)
                code = max(code, error.code)
            }
        }
        guard code == .succeeded else { return code }
        return max(
            arguments.has(.planHost)
                ? try planHosts(pins, chains, at: moment, arguments, console)
                : planPatterns(pins, chains, at: moment, arguments, console), code)
    }

    private static func planHosts(
        _ pins: PinSet, _ chains: [Next], at moment: WallTime, _ arguments: ParsedArguments,
        _ console: Console
    ) throws(CommandFault) -> ExitCode {
        var code = ExitCode.succeeded
        for text in arguments.values(.planHost) {
            let host = try PeerTarget.host(text)
            do throws(CommandFault) {
                let outlook = try outlook(of: host, pins, chains, at: moment)
                report(outlook, arguments, console)
                if !outlook.survives { code = max(code, .negative) }
            } catch {
                if arguments.has(.json) {
                    console.print(json: json(error, code: "not_pinned"))
                }
                console.note(error.message)
                code = max(code, error.code)
            }
        }
        return code
    }

    private static func planPatterns(
        _ pins: PinSet, _ chains: [Next], at moment: WallTime, _ arguments: ParsedArguments,
        _ console: Console
    ) -> ExitCode {
        var code = ExitCode.succeeded
        var pinned = 0
        for pattern in pins.patterns {
            guard let rule = pins.rule(under: pattern) else {
                report(exempt: pattern, arguments, console)
                continue
            }
            pinned += 1
            let applying = chains.filter { speaks($0, for: pattern) }
            let outlook = outlook(pattern, rule, applying, at: moment)
            report(outlook, arguments, console)
            if !outlook.survives { code = .negative }
        }
        if pinned == 0 {
            console.note("note: the policy pins no host: nothing that comes next can break it")
        }
        for chain in chains where !pins.patterns.contains(where: { speaks(chain, for: $0) }) {
            console.note("note: \(chain.file) is for no host of the policy")
        }
        return code
    }

    /// A pattern that is taken out of a wider one.
    private static func report(
        exempt pattern: HostPattern, _ arguments: ParsedArguments, _ console: Console
    ) {
        let reason = "exempt: its hosts have no pins"
        if arguments.has(.json) {
            console.print(json: [
                "pattern": .string(pattern.description), "survives": true,
                "reason": .string(reason), "next": [], "pins": [], "warnings": [], "error": nil,
            ])
        } else {
            console.print("\(pattern): \(console.outputPaint.dim("untouched")): \(reason)")
        }
    }

    /// For one host, under the rule that speaks for it.
    private static func outlook(
        of host: Host, _ pins: PinSet, _ chains: [Next], at moment: WallTime
    ) throws(CommandFault) -> Outlook {
        guard let match = pins.match(for: host) else {
            throw CommandFault("no pattern of the policy matches \(host)", code: .negative)
        }
        guard let rule = match.rule else {
            throw CommandFault("\(host) has no pins: \(match.pattern) is exempt", code: .negative)
        }
        let applying = chains.filter { next in
            guard let leaf = next.leaf else { return true }
            if case .matched = NameMatcher().match(host, leaf) { return true }
            return false
        }
        var outlook = outlook(match.pattern, rule, applying, at: moment)
        if applying.isEmpty {
            outlook.survives = false
            outlook.files = chains.map(\.file)
            outlook.reason = "nothing that comes next is for \(host)"
        }
        return outlook
    }

    private static func next(
        _ file: String, _ arguments: ParsedArguments, at moment: WallTime
    ) throws(CommandFault) -> Next {
        let found = try PinFile.keys(file)
        let sent = found.compactMap(\.certificate)
        let certificates = chain(in: sent)
        let facts = certificates.map { try? CertificateReader.facts(of: $0) }
        // What merely stands in the file is in no verified chain.
        var keys =
            certificates.isEmpty
            ? found.map { ($0.pin, $0.subject.isEmpty ? $0.kind.rawValue : $0.subject) }
            : facts.compactMap { $0 }.map { ($0.pin, $0.subject) }
        let leaf = facts.first ?? nil
        var next = Next(file: file, keys: [], leaf: leaf)
        next.undated = leaf.flatMap { PinsPlan.undated($0, at: moment) }.map { "\(file) \($0)" }
        next.remarks = facts.dropFirst().compactMap { $0 }.compactMap { certificate in
            PinsPlan.undated(certificate, at: moment).map {
                "\(certificate.subject.prefix(200)) of \(file) \($0)"
            }
        }
        if found.count > certificates.count, !certificates.isEmpty {
            let left = found.count - certificates.count
            next.remarks.append(
                "\(left) of what is in \(file) is not in the chain of its first certificate, and does "
                    + "not count")
        }
        if let first = certificates.first, let leaf, arguments.has(.cacert) {
            let policy = TrustPolicy(roots: arguments.value(.cacert).map { .file($0) } ?? .system)
            let chains: ChainVerifier
            do throws(TrustSetupError) { chains = try ChainVerifier(policy: policy) } catch {
                throw .usage("\(error)")
            }
            let evidence = chains.evidence(
                leaf: first, intermediates: Array(sent.dropFirst()), host: nil,
                time: max(leaf.notBefore, min(moment, leaf.notAfter)))
            if let refusal = evidence.refusal,
                [TrustFailure.Code.expired, .notYetValid].contains(refusal.code)
            {
                // The leaf is judged above: what has ended is above it in the chain.
                next.undated =
                    next.undated
                    ?? "an authority of \(file) is not valid on \(PinsPlan.day(of: moment)): "
                    + refusal.detail
            } else if let refusal = evidence.refusal {
                throw .usage("\(quoted(file)) leads to no root of --cacert: \(refusal.detail)")
            }
            keys = evidence.chain.map { ($0.pin, $0.subject) }
        }
        next.keys = keys.map { (pin: $0.0, name: $0.1) }
        return next
    }

    /// The first certificate and those above it, each of which has issued the one before.
    private static func chain(in sent: [Certificate]) -> [Certificate] {
        guard var last = sent.first else { return [] }
        var chain = [last]
        var rest = Array(sent.dropFirst())
        while let index = rest.firstIndex(where: { last.isIssued(by: $0) }) {
            last = rest.remove(at: index)
            chain.append(last)
        }
        return chain
    }

    /// `is not valid on 2027-06-15 (until 2027-02-28)`; nil where it is valid then.
    private static func undated(_ certificate: CertificateFacts, at moment: WallTime) -> String? {
        let isOver = certificate.notAfter < moment
        guard isOver || moment < certificate.notBefore else { return nil }
        let bound = isOver ? certificate.notAfter : certificate.notBefore
        // Days are enough where they differ.
        let isSameDay = day(of: bound) == day(of: moment)
        let text = { (time: WallTime) in isSameDay ? time.iso8601 : day(of: time) }
        return "is not valid on \(text(moment)) (\(isOver ? "until" : "from") \(text(bound)))"
    }

    private static func day(of moment: WallTime) -> String {
        moment.iso8601.prefix { $0 != "T" }.description
    }

    /// Whether what comes next may be for hosts of a pattern.
    private static func speaks(_ next: Next, for pattern: HostPattern) -> Bool {
        guard let leaf = next.leaf else { return true }
        if case .exact(let host) = pattern.form {
            if case .matched = NameMatcher().match(host, leaf) { return true }
            return false
        }
        return leaf.dnsNames.contains { entry in
            let text = String(decoding: entry, as: UTF8.self)
            let name = text.hasPrefix("*.") ? "any." + text.dropFirst(2) : text
            guard let host = try? HostName(name) else { return false }
            return pattern.matches(.name(host))
        }
    }

    private static func outlook(
        _ pattern: HostPattern, _ rule: PinRule, _ applying: [Next], at moment: WallTime
    ) -> Outlook {
        var outlook = Outlook(
            pattern: pattern, rule: rule, survives: true, reason: "", files: applying.map(\.file))
        guard !applying.isEmpty else {
            outlook.reason = "nothing that comes next is for it"
            return outlook
        }
        // No rule of pins lets a certificate pass that is not valid.
        if let undated = applying.lazy.compactMap(\.undated).first {
            outlook.survives = false
            outlook.reason = undated
            return outlook
        }
        outlook.warnings = applying.flatMap(\.remarks)
        if let expiry = rule.expiry, expiry.at < moment {
            outlook.survives = expiry.then != .failClosed || rule.enforcement == .reportOnly
            outlook.reason = "its pins end before, at \(expiry.at.iso8601): \(expiry.then.rawValue)"
            return outlook
        }
        var matched: [String] = []
        for next in applying {
            guard let key = next.keys.first(where: { rule.pins.contains($0.pin) }) else {
                outlook.survives = rule.enforcement == .reportOnly
                outlook.reason =
                    "no pinned key is in \(next.file)"
                    + (outlook.survives ? ", but the rule only reports" : advice(next))
                return outlook
            }
            matched.append("\(key.pin) (\(key.name.prefix(200)))")
        }
        outlook.reason = "by " + matched.joined(separator: ", ")
        let used = Set(applying.flatMap { $0.keys.map(\.pin) })
        if rule.pins.isSubset(of: used) {
            outlook.warnings.append("no backup is left after it: every pin is then in use")
        }
        return outlook
    }

    private static func advice(_ next: Next) -> String {
        guard let key = next.keys.first else { return "" }
        let root = next.leaf == nil ? "" : "; where a root is pinned, name it with --cacert"
        return ": ship a policy with \(key.pin) first, and wait until clients have it" + root
    }

    /// The keys of a result, for a command that could not even begin.
    static func json(
        _ fault: CommandFault, file: String? = nil, code: String = "usage"
    ) -> JSONValue {
        [
            "pattern": nil, "survives": false, "reason": nil,
            "next": .array(file.map { [.string($0)] } ?? []), "pins": [], "warnings": [],
            "error": ["code": .string(code), "message": .string(fault.message)],
        ]
    }

    private static func report(
        _ outlook: Outlook, _ arguments: ParsedArguments, _ console: Console
    ) {
        if arguments.has(.json) {
            console.print(json: [
                "pattern": .string(outlook.pattern.description),
                "survives": .bool(outlook.survives), "reason": .string(outlook.reason),
                "next": .array(outlook.files.map { .string($0) }),
                "pins": .array(outlook.rule.sortedPins.map { .string($0.description) }),
                "warnings": .array(outlook.warnings.map { .string($0) }), "error": nil,
            ])
            return
        }
        let paint = console.outputPaint
        let word =
            outlook.files.isEmpty
            ? paint.dim("untouched") : outlook.survives ? paint.green("yes") : paint.red("NO")
        console.print("\(outlook.pattern): \(word): \(outlook.reason.printable)")
        for warning in outlook.warnings {
            console.print("  " + paint.yellow("warning") + ": " + warning.printable)
        }
    }
}
