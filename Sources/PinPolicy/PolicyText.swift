internal import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPublicSuffix
internal import HTTPDNSTrust

/// The text that is being read, for faults that name their place, and what all styles read alike.
struct PolicyText {
    let octets: [UInt8]
    let name: String

    static func isSpace(_ octet: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(octet) }

    func fault(at offset: Int, _ message: String) -> PinPolicyError {
        let (line, column) = LocatedJSON.position(of: offset, in: octets)
        return PinPolicyError(file: name, line: line, column: column, message)
    }

    func fault(at value: LocatedJSON, _ message: String) -> PinPolicyError {
        fault(at: value.offset, message)
    }

    /// The members of an object, each name at most once and none unknown.
    func members(
        of value: LocatedJSON, _ what: String, known: [String]
    ) throws(PinPolicyError) -> [String: LocatedJSON] {
        guard let members = value.members else {
            throw fault(at: value, "\(what) has to be an object, not \(value.kind)")
        }
        if let duplicate = value.duplicate {
            throw fault(
                at: duplicate.nameOffset,
                "\(quoted(duplicate.name)) stands twice in \(what); keep one")
        }
        var found: [String: LocatedJSON] = [:]
        for member in members {
            guard known.contains(member.name) else {
                throw fault(
                    at: member.nameOffset,
                    unknown("member", member.name, of: what, known: known))
            }
            found[member.name] = member.value
        }
        return found
    }

    func unknown(_ kind: String, _ name: String, of what: String, known: [String]) -> String {
        let hint = Nearest.word(to: name, in: known).map { "; did you mean \"\($0)\"?" }
        return "unknown \(kind) \(quoted(name)) in \(what)"
            + (hint ?? "; known are \(known.joined(separator: ", "))")
    }

    func checkCount(_ patterns: Int, at offset: Int) throws(PinPolicyError) {
        guard patterns <= PinPolicy.maximumPatterns else {
            throw fault(
                at: offset,
                "\(patterns) patterns; at most \(PinPolicy.maximumPatterns) are read, and '**.host' "
                    + "stands for many")
        }
    }

    func string(_ value: LocatedJSON, _ what: String) throws(PinPolicyError) -> String {
        guard let string = value.string else {
            throw fault(at: value, "\(what) has to be a string, not \(value.kind)")
        }
        return string
    }

    func flag(_ value: LocatedJSON, _ what: String) throws(PinPolicyError) -> Bool {
        guard let flag = value.bool else {
            throw fault(at: value, "\(what) has to be true or false, not \(value.kind)")
        }
        return flag
    }

    func list(_ value: LocatedJSON, _ what: String) throws(PinPolicyError) -> [LocatedJSON] {
        guard let list = value.array else {
            throw fault(at: value, "\(what) has to be an array, not \(value.kind)")
        }
        return list
    }

    /// One of a few words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ value: LocatedJSON, _ what: String, _ type: Choice.Type
    ) throws(PinPolicyError) -> Choice where Choice.RawValue == String {
        let text = try string(value, what)
        guard let choice = Choice(rawValue: text) else {
            throw fault(
                at: value,
                unknown("value", text, of: what, known: Choice.allCases.map(\.rawValue)))
        }
        return choice
    }

    func moment(_ value: LocatedJSON, _ what: String) throws(PinPolicyError) -> WallTime {
        let text = try string(value, what)
        guard let moment = WallTime(iso8601: text) else {
            throw fault(
                at: value,
                "\(what) \(quoted(text)) is no date; write 2027-01-31 (its first second in UTC) or "
                    + "2027-01-31T12:00:00Z")
        }
        return moment
    }

    func reportURIs(
        _ value: LocatedJSON, _ what: String
    ) throws(PinPolicyError) -> [String] {
        var texts: [String] = []
        for element in try list(value, what) {
            let text = try string(element, what)
            do throws(URLFault) { _ = try HTTPURL(text) } catch {
                throw fault(at: element, "\(quoted(text)) is not a URL to report to: \(error)")
            }
            texts.append(text)
        }
        return texts
    }

    /// A pattern with its host in letters of any script.
    func pattern(
        _ text: String, includeSubdomains: Bool, at offset: Int
    ) throws(PinPolicyError) -> HostPattern {
        let stars = text.hasPrefix("**.") ? "**." : text.hasPrefix("*.") ? "*." : ""
        var host = String(text.dropFirst(stars.count))
        if !host.utf8.allSatisfy({ $0 < 0x80 }) {
            do { host = try IDNA.toASCII(host) } catch {
                throw fault(at: offset, "\(quoted(text)) is not a host: \(error)")
            }
        }
        let pattern: HostPattern
        do {
            pattern = try PinSet.pattern(stars + host, includeSubdomains: includeSubdomains)
        } catch { throw fault(at: offset, "\(error)") }
        if let suffix = pattern.suffix, PublicSuffix.isPublicSuffix(suffix) {
            throw fault(
                at: offset,
                "\(quoted(text)) speaks for all that is registered under \(suffix.text), a public "
                    + "suffix; name the hosts that are yours")
        }
        return pattern
    }

    /// Text of the file in a message: nothing endless, no control characters.
    func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(80).map { $0.escaped(asASCII: false) }.joined()
        return "\"\(shown)\(text.unicodeScalars.count > 80 ? "…" : "")\""
    }
}

extension HostPattern {
    /// The name below which the pattern reaches; nil where it is one host.
    var suffix: HostName? {
        switch form {
        case .exact: nil
        case .oneLabelUnder(let suffix), .anyDepthUnder(let suffix), .under(let suffix): suffix
        }
    }
}
