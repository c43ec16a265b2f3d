internal import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSRules

/// Reads `then`.
struct ActionReader {
    /// Ends with `/`, or is empty.
    let directory: String
    let recordings: RuleFile.Recordings
    /// The files that are named must be there, and can be used: the rules are read from a file.
    let looksAtFiles: Bool

    private static let words = ["resolve", "block", "offline"]
    private static let known = [
        "pass", "block", "stub", "map", "addresses", "setHeaders", "removeHeaders", "addCookies",
        "record", "replay",
    ]

    /// One action or several, in order.
    func actions(_ node: Node) throws(RuleFileFault) -> [RuleAction] {
        let nodes = try node.oneOrMore()
        var actions: [RuleAction] = []
        for (place, one) in nodes.enumerated() {
            if let last = actions.last, last.decides, place > 0 {
                throw one.fault("nothing comes after \"\(last)\": it decides; put this before it")
            }
            actions += try action(one)
        }
        return actions
    }

    private func action(_ node: Node) throws(RuleFileFault) -> [RuleAction] {
        if let word = node.json.string {
            switch word {
            case "resolve": return [.resolve]
            case "block": return [.block]
            case "offline": return [.offline]
            default:
                if Self.known.contains(word) {
                    throw node.fault("\"\(word)\" needs a value: {\"\(word)\": …}")
                }
                throw node.unknown(word, Self.words + Self.known)
            }
        }
        guard node.json.members != nil else {
            throw node.expected("an action, such as \"block\" or {\"stub\": {…}},")
        }
        let members = try node.members(Self.known)
        guard members.count == 1, let (name, value) = members.first else {
            throw node.fault("one action in each object; several stand in an array, in order")
        }
        return [try action(name, value)]
    }

    private func action(_ name: String, _ node: Node) throws(RuleFileFault) -> RuleAction {
        switch name {
        case "pass":
            let reason = try node.string()
            guard reason.contains(where: { !$0.isWhitespace }) else {
                throw node.fault("why it passes is expected: {\"pass\": \"the system knows it\"}")
            }
            return .pass(because: reason)
        case "block": return .block(try Self.error(node))
        case "stub": return .stub(try stubs.stub(node))
        case "map": return .map(try Self.mapping(node))
        case "addresses": return .addresses(try Self.addresses(node))
        case "setHeaders":
            let pairs = try Self.texts(node)
            guard !pairs.isEmpty else { throw node.fault("it sets nothing; leave it out") }
            return .setFields(
                try node.making { () throws(RuleFault) in try RuleFields.checked(pairs) })
        case "removeHeaders": return .removeFields(try Self.removable(node))
        case "addCookies": return .addCookies(try Self.cookies(node))
        case "record": return .record(try recorder(node))
        default: return try replay(node)
        }
    }

    private var stubs: StubReader { StubReader(directory: directory, looksAtFiles: looksAtFiles) }

    private func recorder(_ node: Node) throws(RuleFileFault) -> FixtureRecorder {
        var file = node
        var most = FixtureRecorder.usualBodyOctets
        if node.json.members != nil {
            let members = try node.members(["file", "maximumBodyOctets"])
            guard let member = members["file"] else {
                throw node.fault("\"file\" is missing: where the exchanges are recorded")
            }
            file = member
            if let octets = members["maximumBodyOctets"] {
                most = try octets.integer(1...FixtureRecorder.mostBodyOctets)
            }
        }
        let path = try path(file)
        try FilePath.checkRecording(path, file)
        if looksAtFiles { try FilePath.checkTarget(path, file) }
        return try file.making { () throws(RuleFault) in
            try recordings.record(RuleFile.Recording(path: path, maximumBodyOctets: most))
        }
    }

    private func replay(_ node: Node) throws(RuleFileFault) -> RuleAction {
        guard node.json.members != nil else { return .replay(try library(node)) }
        let members = try node.members(["file", "otherwise"])
        guard let file = members["file"] else {
            throw node.fault("\"file\" is missing: where the recorded exchanges are")
        }
        var otherwise = RuleAction.Unrecorded.refuse
        if let member = members["otherwise"] { otherwise = try member.choice() }
        return .replay(try library(file), otherwise: otherwise)
    }

    private func library(_ node: Node) throws(RuleFileFault) -> FixtureLibrary {
        let path = try path(node)
        return try node.making { () throws(RuleFault) in try recordings.read(path) }
    }

    private func path(_ node: Node) throws(RuleFileFault) -> String {
        try FilePath.read(node, in: directory)
    }

    static func error(_ node: Node) throws(RuleFileFault) -> RuleError {
        .network(try node.choice(NetworkFault.self))
    }

    /// `https://staging.example.com:8443`, or the parts that change.
    private static func mapping(_ node: Node) throws(RuleFileFault) -> OriginMapping {
        if let text = node.json.string {
            let url: HTTPURL
            do throws(URLFault) { url = try HTTPURL(text, toASCII: HostText.toASCII) } catch {
                throw node.fault(
                    "\"\(HostText.plain(text))\" is no origin, such as "
                        + "\"https://staging.example.com:8443\": \(error)")
            }
            guard url.target == "/", url.userinfo == nil, url.fragment == nil else {
                throw node.fault(
                    "\"\(HostText.plain(text))\": only scheme, host and port can be mapped")
            }
            return OriginMapping(
                scheme: url.origin.scheme, host: url.origin.host, port: url.origin.port)
        }
        let members = try node.members(["scheme", "host", "port"])
        guard !members.isEmpty else { throw node.fault("scheme, host or port is expected") }
        var mapping = OriginMapping()
        if let scheme = members["scheme"] {
            let word = try scheme.string()
            mapping.scheme = Scheme(rawValue: word)
            if mapping.scheme == nil { throw scheme.unknown(word, ["http", "https"]) }
        }
        if let host = members["host"] {
            let text = try host.string()
            mapping.host = try host.making { () throws(RuleFault) in try HostText.host(text) }
        }
        if let port = members["port"] { mapping.port = Port(UInt16(try port.integer(1...65_535))) }
        return mapping
    }

    private static func addresses(_ node: Node) throws(RuleFileFault) -> [IPAddress] {
        var addresses: [IPAddress] = []
        for one in try node.oneOrMore() {
            let text = try one.string()
            guard let address = try? IPAddress(text) else {
                throw one.fault("\"\(HostText.plain(text))\" is no address")
            }
            addresses.append(address)
        }
        return addresses
    }

    private static func cookies(_ node: Node) throws(RuleFileFault) -> [RuleCookie] {
        var cookies: [RuleCookie] = []
        for (name, value, _) in try node.pairs() {
            let text = try value.string()
            cookies.append(
                try value.making { () throws(RuleFault) in try RuleCookie(name, text) })
        }
        guard !cookies.isEmpty else { throw node.fault("it adds nothing; leave it out") }
        return cookies
    }

    private static func removable(_ node: Node) throws(RuleFileFault) -> [String] {
        var names: [String] = []
        for one in try node.oneOrMore() {
            let name = try one.string()
            try one.making { () throws(RuleFault) in try RuleFields.checkRemovable(name) }
            names.append(name)
        }
        return names
    }

    /// Fields: a name has one value or several.
    static func texts(_ node: Node) throws(RuleFileFault) -> [(String, String)] {
        var texts: [(String, String)] = []
        for (name, value, _) in try node.pairs() {
            for one in try value.oneOrMore() { texts.append((name, try one.string())) }
        }
        return texts
    }
}

/// Paths in a file of rules.
enum FilePath {
    static func read(_ node: Node, in directory: String) throws(RuleFileFault) -> String {
        let path = try node.string()
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw node.fault("a path is expected")
        }
        return path.hasPrefix("/") ? path : directory + path
    }

    /// A file that a stub plays: it is there, and is one.
    static func checkSource(_ path: String, _ node: Node) throws(RuleFileFault) {
        do throws(SmallFile.Fault) { _ = try SmallFile.beginning(path, octets: 1) } catch {
            throw node.fault("\(HostText.plain(path)): \(error)")
        }
    }

    /// What is recorded is a capture: a name that says otherwise would mislead whoever opens it.
    static func checkRecording(_ path: String, _ node: Node) throws(RuleFileFault) {
        let name = path.lowercased()
        guard let suffix = [".har", ".json"].first(where: { name.hasSuffix($0) }) else { return }
        throw node.fault(
            "what is recorded is a capture, an SQLite database, and no \(suffix.dropFirst()) file: "
                + "give it another name (a.sqlite); httpdns capture har makes a HAR file of it")
    }

    /// A file that is recorded into: it is a capture, or can be made.
    static func checkTarget(_ path: String, _ node: Node) throws(RuleFileFault) {
        do throws(FileFault) { try ReplacedFile.checkReplaceable(path) } catch {
            throw node.fault("it cannot be recorded into: \(HostText.plain("\(error)"))")
        }
        var beginning: [UInt8] = []
        // One with a log is a capture that may be open in this process, and loses its locks when any
        // descriptor on it is closed.
        if SmallFile.stamp(path) != nil, SmallFile.stamp(path + "-wal") == nil {
            do throws(SmallFile.Fault) {
                beginning = try SmallFile.beginning(path, octets: capture.count)
            } catch { throw node.fault("\(HostText.plain(path)): \(error)") }
        }
        guard beginning.isEmpty || beginning == capture else {
            throw node.fault(
                "\(HostText.plain(path)) is no capture, and stays as it is; name another file")
        }
    }

    /// Source: SQLite, "Database File Format" §1.3.
    private static let capture = Array("SQLite format 3\0".utf8)
}

/// Reads stubs.
struct StubReader {
    let directory: String
    let looksAtFiles: Bool

    private static let known = [
        "status", "headers", "text", "json", "base64", "file", "latency", "octetsPerSecond",
        "failAfter", "failWith",
    ]

    func stub(_ node: Node) throws(RuleFileFault) -> Stub {
        if node.json.array != nil { return Stub(try responses(node)) }
        guard let names = node.json.members?.map(\.name), names.contains("answers") else {
            return Stub(try response(node))
        }
        let members = try node.members(["answers", "afterLast"])
        var after = Stub.AfterLast.stay
        if let member = members["afterLast"] { after = try member.choice() }
        guard let answers = members["answers"] else { throw node.fault("no answers") }
        return Stub(try responses(answers), after: after)
    }

    private func responses(_ node: Node) throws(RuleFileFault) -> [StubResponse] {
        var responses: [StubResponse] = []
        for one in try node.list() { responses.append(try response(one)) }
        guard !responses.isEmpty else { throw node.fault("at least one answer is expected") }
        return responses
    }

    private func response(_ node: Node) throws(RuleFileFault) -> StubResponse {
        let members = try node.members(Self.known)
        var stub = StubResponse()
        if let status = members["status"] { stub.status = try status.integer(200...599) }
        if let headers = members["headers"] {
            for (name, value) in try ActionReader.texts(headers) {
                do throws(FieldError) { try stub.fields.append(name, value) } catch {
                    throw headers.fault("\(error)")
                }
            }
        }
        try readBody(members, node, &stub)
        if let headers = members["headers"] { try Self.checkLength(stub, headers) }
        if let latency = members["latency"] { stub.latency = try latency.duration() }
        if let rate = members["octetsPerSecond"] {
            stub.octetsPerSecond = try rate.integer(1...1_000_000_000_000)
        }
        if let after = members["failAfter"] {
            stub.failure = StubResponse.Failure(afterOctets: try after.integer(0...Int.max))
        }
        if let error = members["failWith"] {
            stub.failure = StubResponse.Failure(
                afterOctets: stub.failure?.afterOctets ?? 0, try ActionReader.error(error))
        }
        return stub
    }

    /// A length that is not that of the body would be a message that never ends, or ends too early.
    private static func checkLength(
        _ stub: StubResponse, _ headers: Node
    ) throws(RuleFileFault) {
        for field in stub.fields.fields where field.name.lowercased() == "content-length" {
            let isNumber =
                !field.value.isEmpty && field.value.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard isNumber, let length = Int64(field.value) else {
                throw headers.fault(
                    "Content-Length \(HostText.plain(field.value)) is no number of octets")
            }
            // Without a body it may be what HEAD is told.
            guard case .octets(let octets) = stub.body, Int64(octets.count) != length else {
                continue
            }
            throw headers.fault(
                "Content-Length says \(length), and the body has \(octets.count) octets; leave it "
                    + "out: it is added (failAfter breaks a body off)")
        }
    }

    private func readBody(
        _ members: [String: Node], _ node: Node, _ stub: inout StubResponse
    ) throws(RuleFileFault) {
        let bodies = ["text", "json", "base64", "file"].filter { members[$0] != nil }
        guard bodies.count <= 1 else {
            throw node.fault("one body: \(bodies.joined(separator: " or "))")
        }
        guard let name = bodies.first, let body = members[name] else { return }
        var type: String?
        switch name {
        case "text":
            stub.body = .octets(Array(try body.string().utf8))
            type = "text/plain; charset=utf-8"
        case "json":
            stub.body = .octets(body.jsonText())
            type = "application/json"
        case "base64":
            guard let octets = Base64.decoded(try body.string()) else {
                throw body.fault("this is no base64 (RFC 4648 §4, padded)")
            }
            stub.body = .octets(octets)
        default:
            let path = try FilePath.read(body, in: directory)
            if looksAtFiles { try FilePath.checkSource(path, body) }
            stub.body = .file(path)
        }
        if let type, !stub.fields.contains("Content-Type") {
            try? stub.fields.set("Content-Type", type)
        }
    }
}
