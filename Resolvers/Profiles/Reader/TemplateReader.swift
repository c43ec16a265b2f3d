internal import HTTPDNSJSON

/// Reads the member `template` of a profile and checks that it can work.
struct TemplateReader {
    private typealias Variable = ProviderTemplate.Variable

    private let top: CheckedObject

    static let keys = [
        "path", "names", "types", "lifetimeSeconds", "accept", "parameters", "headers",
        "signature", "payload", "response",
    ]

    init(_ value: JSONValue?, file: String) throws(ProfileError) {
        top = try CheckedObject(value, file: file, path: "template", keys: Self.keys)
    }

    func template() throws(ProfileError) -> ProviderTemplate {
        let (maximum, joiner) = try names()
        let template = ProviderTemplate(
            path: try path(), maximumNames: maximum, namesJoiner: joiner, types: try types(),
            lifetimeSeconds: try top.number("lifetimeSeconds", in: 1...86_400) ?? 600,
            accept: try top.optionalText("accept") ?? "application/json, */*;q=0.1",
            parameters: try entries("parameters", allowed: Self.sent),
            headers: try entries("headers", allowed: Self.sent), signature: try signature(),
            payload: try payload(), response: try response())
        try check(template)
        return template
    }

    /// What may be written into a request.
    private static let sent = Variable.allCases.filter { $0 != .secret }
    private static let inPath: [Variable] = [
        .host, .hosts, .account, .accountFirst, .accountSecond,
    ]
    private static let signed = Variable.allCases.filter { $0 != .signature }
    private static let encrypted = Variable.allCases.filter {
        $0 != .signature && $0 != .payload && $0 != .secret
    }

    private func path() throws(ProfileError) -> ProviderTemplate.Text {
        let advice = "give the path to ask, such as /resolve"
        let text = try top.text("path", advice: advice)
        guard text.hasPrefix("/"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3F && $0 != 0x23 })
        else {
            throw top.fault("path", "\"\(text)\" is no path", advice + "; queries are parameters")
        }
        return try self.text(text, at: "path", in: top, allowed: Self.inPath)
    }

    private func names() throws(ProfileError) -> (Int, String) {
        guard let names = try top.object("names", keys: ["maximum", "joiner"]) else {
            return (1, ",")
        }
        let maximum = try names.number("maximum", in: 1...100) ?? 1
        return (Int(maximum), try names.optionalText("joiner") ?? ",")
    }

    private func types() throws(ProfileError) -> ProviderTemplate.TypeWords? {
        guard let types = try top.object("types", keys: ["A", "AAAA", "both"]) else { return nil }
        let advice = "give the word that asks for this type"
        return ProviderTemplate.TypeWords(
            ipv4: try types.text("A", advice: advice),
            ipv6: try types.text("AAAA", advice: advice), both: try types.optionalText("both"))
    }

    private func entries(
        _ key: String, allowed: [Variable]
    ) throws(ProfileError) -> [ProviderTemplate.Entry] {
        guard let value = top.object[key] else { return [] }
        guard let object = value.object else {
            throw top.fault(key, "it is \(value.kind)", "write an object of names and texts")
        }
        var entries: [ProviderTemplate.Entry] = []
        for member in object.members {
            let place = "\(key).\(member.name)"
            guard let text = member.value.string else {
                throw top.fault(place, "it is \(member.value.kind)", "write a string")
            }
            guard !member.name.isEmpty,
                member.name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3A })
            else { throw top.fault(place, "no name", "use letters, digits, - and _") }
            guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw top.fault(place, "a control or non-ASCII character", "remove it")
            }
            entries.append(
                ProviderTemplate.Entry(
                    name: member.name,
                    value: try self.text(text, at: place, in: top, allowed: allowed)))
        }
        return entries
    }

    private func signature() throws(ProfileError) -> ProviderTemplate.Signature? {
        let keys = [
            "pieces", "joiner", "order", "dropsEmpty", "algorithm", "keyEncoding", "encoding",
        ]
        guard let object = try top.object("signature", keys: keys) else { return nil }
        var pieces: [ProviderTemplate.Text] = []
        for (index, piece) in try object.strings("pieces").enumerated() {
            pieces.append(
                try text(piece, at: "pieces[\(index)]", in: object, allowed: Self.signed))
        }
        guard !pieces.isEmpty else {
            throw object.fault("pieces", "missing or empty", "list what is signed, in order")
        }
        guard
            let algorithm = try object.word(
                "algorithm", of: ProviderTemplate.Signature.Algorithm.self)
        else { throw object.fault("algorithm", "missing", "use md5, sha256 or hmac-sha256") }
        let isKeyed = pieces.contains {
            !$0.variables.filter { $0 == .secret || $0 == .key }.isEmpty
        }
        guard isKeyed || algorithm == .hmacSHA256 else {
            throw object.fault(
                "pieces", "neither {secret} nor {key} is signed, so anyone could sign",
                "add the piece that holds it")
        }
        let keyEncoding = try object.word("keyEncoding", of: ProviderTemplate.KeyEncoding.self)
        guard keyEncoding == nil || (algorithm == .hmacSHA256 && keyEncoding != .pkcs7) else {
            throw object.fault(
                "keyEncoding", "it does not fit the algorithm", "use utf8 or hex, with hmac-sha256")
        }
        return ProviderTemplate.Signature(
            pieces: pieces, joiner: try object.optionalText("joiner") ?? "",
            order: try object.word("order", of: ProviderTemplate.Signature.Order.self) ?? .given,
            dropsEmpty: try object.flag("dropsEmpty"), algorithm: algorithm,
            keyEncoding: keyEncoding ?? .utf8,
            encoding: try object.word("encoding", of: ProviderTemplate.TextEncoding.self) ?? .hex)
    }

    private func payload() throws(ProfileError) -> ProviderTemplate.Payload? {
        guard let object = try top.object("payload", keys: ["text"] + Self.encryptionKeys) else {
            return nil
        }
        let text = try object.text("text", advice: "give what is encrypted")
        return ProviderTemplate.Payload(
            text: try self.text(text, at: "text", in: object, allowed: Self.encrypted),
            encryption: try encryption(in: object))
    }

    private static let encryptionKeys = ["cipher", "key", "keyEncoding", "encoding"]
    private static let ciphers = ["aes-128-cbc", "aes-128-gcm", "aes-256-ecb", "des-ecb"]

    private func encryption(
        in object: CheckedObject
    ) throws(ProfileError) -> ProviderTemplate.Encryption {
        let known = Self.ciphers.joined(separator: ", ")
        let cipher = try object.text("cipher", advice: "use one of \(known)")
        guard Self.ciphers.contains(cipher) else {
            throw object.fault("cipher", "\"\(cipher)\" is unknown", "use one of \(known)")
        }
        let key = try object.text("key", advice: "use secret or key")
        guard key == "secret" || key == "key" else {
            throw object.fault("key", "\"\(key)\" is no credential", "use secret or key")
        }
        return ProviderTemplate.Encryption(
            cipher: cipher, key: key == "key" ? .key : .secret,
            keyEncoding: try object.word("keyEncoding", of: ProviderTemplate.KeyEncoding.self)
                ?? .utf8,
            encoding: try object.word("encoding", of: ProviderTemplate.TextEncoding.self) ?? .hex)
    }
}

// Responses
extension TemplateReader {
    private static let responseKeys = [
        "form", "code", "entries", "keyedByName", "name", "addresses", "ttl", "clientAddress",
        "emptyIsNoData", "separators", "encryption",
    ]

    private func response() throws(ProfileError) -> ProviderTemplate.Response {
        let object = try CheckedObject(
            top.object["response"], file: top.file, path: top.place(of: "response"),
            keys: Self.responseKeys)
        guard let form = try object.word("form", of: ProviderTemplate.Response.Form.self) else {
            throw object.fault("form", "missing", "use json, addresses, dns-json or text")
        }
        let mapping = ["entries", "keyedByName", "name", "addresses", "ttl", "emptyIsNoData"]
        for key in mapping where form != .json && object.object[key] != nil {
            throw object.fault(key, "only the form json has it", "remove it")
        }
        var addresses: [ProviderTemplate.Path] = []
        for (index, text) in try object.strings("addresses").enumerated() {
            addresses.append(try path(text, at: "addresses[\(index)]", in: object))
        }
        guard form != .json || !addresses.isEmpty else {
            throw object.fault("addresses", "missing or empty", "list where addresses stand")
        }
        let separators = try separators(in: object)
        guard (form == .text) == (separators != nil) else {
            throw object.fault(
                "separators", form == .text ? "missing" : "only the form text has them",
                form == .text ? "say what stands between addresses" : "remove them")
        }
        let encryption = try object.object("encryption", keys: Self.encryptionKeys)
        return ProviderTemplate.Response(
            form: form, code: try code(in: object),
            entries: try optionalPath("entries", in: object) ?? ProviderTemplate.Path(members: []),
            isKeyedByName: try object.flag("keyedByName"),
            name: try optionalPath("name", in: object),
            addresses: addresses, seconds: try optionalPath("ttl", in: object),
            clientAddress: try optionalPath("clientAddress", in: object),
            emptyIsNoData: try object.flag("emptyIsNoData"), separators: separators,
            encryption: try encryption.map { object throws(ProfileError) in
                try self.encryption(in: object)
            })
    }

    private func separators(
        in object: CheckedObject
    ) throws(ProfileError) -> ProviderTemplate.Separators? {
        guard
            let separators = try object.object(
                "separators", keys: ["addresses", "ttl", "client"])
        else { return nil }
        for key in ["addresses", "ttl", "client"] {
            guard let text = try separators.optionalText(key) else { continue }
            guard text.utf8.count == 1, let octet = text.utf8.first, (0x21...0x7E).contains(octet),
                octet != 0x2E, octet != 0x3A, !(0x30...0x39).contains(octet)
            else {
                throw separators.fault(
                    key, "\"\(text)\" cannot part addresses", "use one sign such as , ; or |")
            }
        }
        return ProviderTemplate.Separators(
            addresses: try separators.text("addresses", advice: "say what parts addresses"),
            seconds: try separators.optionalText("ttl"),
            client: try separators.optionalText("client"))
    }

    private func code(in object: CheckedObject) throws(ProfileError) -> ProviderTemplate.Code? {
        let keys = ["path", "success", "meanings", "switchServer"]
        guard let code = try object.object("code", keys: keys) else { return nil }
        var meanings: [String: String] = [:]
        if let value = code.object["meanings"] {
            guard let words = value.object else {
                throw code.fault("meanings", "it is \(value.kind)", "write an object of words")
            }
            for member in words.members {
                guard let word = member.value.string, !word.isEmpty else {
                    throw code.fault("meanings.\(member.name)", "no word", "write a string")
                }
                meanings[member.name] = word
            }
        }
        let text = try code.text("path", advice: "say where the code stands")
        return ProviderTemplate.Code(
            path: try path(text, at: "path", in: code), success: try code.strings("success"),
            meanings: meanings, switching: try code.strings("switchServer"))
    }

    private func optionalPath(
        _ key: String, in object: CheckedObject
    ) throws(ProfileError) -> ProviderTemplate.Path? {
        guard let text = try object.optionalText(key) else { return nil }
        return try path(text, at: key, in: object)
    }

    private func path(
        _ text: String, at key: String, in object: CheckedObject
    ) throws(ProfileError) -> ProviderTemplate.Path {
        let members = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard members.allSatisfy({ !$0.isEmpty }), members.count <= 8 else {
            throw object.fault(key, "\"\(text)\" is no path", "write members parted by dots")
        }
        return ProviderTemplate.Path(members: members)
    }
}

// Texts and what must hold between the parts
extension TemplateReader {
    private func text(
        _ text: String, at key: String, in object: CheckedObject,
        allowed: [ProviderTemplate.Variable]
    ) throws(ProfileError) -> ProviderTemplate.Text {
        let known = allowed.map { "{\($0.rawValue)}" }.joined(separator: " ")
        let pieces: [ProviderTemplate.Text.Piece]
        switch ProviderTemplate.Text.pieces(of: text) {
        case .success(let read): pieces = read
        case .failure(let fault):
            throw object.fault(key, fault.what, "the variables here are \(known)")
        }
        for case .variable(let variable) in pieces where !allowed.contains(variable) {
            throw object.fault(
                key, "{\(variable.rawValue)} must not stand here",
                "the variables here are \(known)")
        }
        return ProviderTemplate.Text(pieces: pieces)
    }

    private func check(_ template: ProviderTemplate) throws(ProfileError) {
        let variables = Set(template.texts.flatMap(\.variables))
        guard variables.contains(.host) || variables.contains(.hosts) else {
            throw top.fault("parameters", "no name is asked for", "use {host} or {hosts}")
        }
        guard template.maximumNames == 1 || !variables.contains(.host) else {
            throw top.fault(
                "names.maximum", "{host} is one name", "use {hosts}, or leave names out")
        }
        guard template.maximumNames == 1 || template.response.form == .json else {
            throw top.fault(
                "names.maximum", "this form of response names no host", "ask for one name a time")
        }
        try checkPair(
            template.signature != nil, variables.contains(.signature), "signature", "{signature}")
        try checkPair(
            template.payload != nil, variables.contains(.payload), "payload", "{payload}")
        try checkPair(template.types != nil, variables.contains(.types), "types", "{types}")
    }

    private func checkPair(
        _ isDefined: Bool, _ isUsed: Bool, _ key: String, _ variable: String
    ) throws(ProfileError) {
        guard isDefined != isUsed else { return }
        throw isDefined
            ? top.fault(key, "\(variable) stands nowhere", "use it, or remove this key")
            : top.fault(key, "\(variable) is used, but not defined", "add this key")
    }
}

extension ProviderTemplate.Text {
    struct Fault: Error { let what: String }

    /// The pieces of a text: `a{host}b`, with `{{` and `}}` for braces.
    static func pieces(of text: String) -> Result<[Piece], Fault> {
        var pieces: [Piece] = []
        var literal = ""
        var rest = text[...]
        while let first = rest.popFirst() {
            guard first == "{" || first == "}" else {
                literal.append(first)
                continue
            }
            if rest.first == first {
                literal.append(first)
                rest = rest.dropFirst()
                continue
            }
            guard first == "{", let end = rest.firstIndex(of: "}") else {
                return .failure(Fault(what: "a brace stands alone"))
            }
            let name = String(rest[..<end])
            guard let variable = ProviderTemplate.Variable(rawValue: name) else {
                return .failure(Fault(what: "{\(name)} is no variable"))
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            literal = ""
            pieces.append(.variable(variable))
            rest = rest[rest.index(after: end)...]
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        return .success(pieces)
    }
}
