internal import HTTPDNSIDNA
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

extension OptionRule {
    static let name = OptionRule(
        "name", value: "NAME", isRepeatable: true, "a name, even if it looks like a type")
    static let reverse = OptionRule(
        "reverse", letter: "x", value: "IP", isRepeatable: true, "the name of an address (PTR)")
    static let file = OptionRule("file", value: "LIST", "names from a file, one a line; - is stdin")
    static let parallel = OptionRule("parallel", value: "N", "names in flight at once (50)")
    static let noIDN = OptionRule("no-idn", "names as they are typed, without conversion")
    static let search = OptionRule(
        "search", value: "DOMAIN,…", isValueOptional: true,
        "complete short names by these domains, or by those of the system")
    static let ndots = OptionRule(
        "ndots", value: "N", "with --search: names of so many dots are tried as they are first")
    static let short = OptionRule("short", "addresses or data alone, one a line")
    static let seconds = OptionRule("seconds", "TTLs as whole seconds")
    static let repetitions = OptionRule(
        "repeat", value: "N", "look up N times; the times stand at the end")
    static let watch = OptionRule(
        "watch", "look again whenever the answer's TTL ends, and show what changed")
    static let interval = OptionRule(
        "interval", value: "DURATION", "with --watch: look again after so long")
    static let explain = OptionRule("explain", "every step with its time")
    static let dnssec = OptionRule("dnssec", "ask for DNSSEC data (DO); says whether AD is set")
    static let noRecursion = OptionRule("no-recursion", "ask for what the server itself knows")
}

/// One name that is to be looked up, and for what.
package struct LookupSubject: Sendable, Hashable {
    /// As it was typed.
    package let text: String
    package let name: Result<HostName, NameError>
    package let types: [RecordType]
    /// The names to ask for, in order, until one has records: the name itself, and with it the names
    /// that a search list makes of it.
    package let candidates: [HostName]
    /// Where it stands in a list; nil elsewhere.
    package var line: Int?
    private let showsUnicode: Bool
    /// Why what stands in a list is not even text.
    private var fault: String?

    package init(_ text: String, types: [RecordType], reading: NameReading = NameReading()) {
        self.text = text
        self.types = types
        showsUnicode = reading.convertsUnicode
        do throws(NameError) {
            let parsed = try reading.name(text)
            name = .success(parsed)
            candidates = reading.search?.candidates(for: parsed, typed: text) ?? [parsed]
        } catch {
            name = .failure(error)
            candidates = []
        }
    }

    /// A line of a list that is not text.
    ///
    /// - Parameter shown: its octets, escaped.
    init(unreadable shown: String, because fault: String, types: [RecordType]) {
        text = shown
        name = .failure(.empty)
        self.types = types
        candidates = []
        showsUnicode = false
        self.fault = fault
    }

    /// Why the text is no name; nil when it is one.
    package var nameTrouble: LookupTrouble? {
        guard case .failure(let error) = name else { return nil }
        let trouble = LookupTrouble(error)
        guard let fault else { return trouble }
        return LookupTrouble(label: trouble.label, message: fault, code: trouble.code)
    }

    /// In A-labels; as it was typed where it is no name.
    package var asciiText: String { (try? name.get().text) ?? text }

    /// As people read it, where that differs from ``asciiText``.
    package var unicodeText: String? {
        // Most names are not, and the conversion costs as much as printing them.
        guard showsUnicode, let name = try? name.get(),
            name.labels.contains(where: { $0.hasPrefix("xn--") })
        else {
            return nil
        }
        let text = IDNA.toUnicode(name)
        // A label that is no IDN would be shown as what it is not.
        guard text != name.text, (try? HostName(unicode: text)) == name,
            text.printable == text
        else { return nil }
        return text
    }

    /// Both forms: `bücher.test (xn--bcher-kva.test)`.
    package var shownText: String { unicodeText.map { "\($0) (\(asciiText))" } ?? asciiText }
}

/// How typed names are read.
package struct NameReading: Sendable, Hashable {
    /// Whether text beyond ASCII becomes A-labels, and A-labels are checked.
    package var convertsUnicode = true
    /// Nil: names are complete as they are typed.
    package var search: SearchList?

    package init(convertsUnicode: Bool = true, search: SearchList? = nil) {
        self.convertsUnicode = convertsUnicode
        self.search = search
    }

    func name(_ text: String) throws(NameError) -> HostName {
        if text == HostName.root.text { return .root }
        return convertsUnicode ? try HostName(unicode: text) : try HostName(text)
    }
}

/// What `httpdns lookup` was told to do. Pure: made from words alone.
package struct LookupRequest: Sendable {
    /// How results are shown.
    package enum Form: Sendable, Hashable {
        case table, short, json
    }

    package private(set) var subjects: [LookupSubject] = []
    /// What follows each `@`.
    package private(set) var resolvers: [String] = []
    /// The types that were named; empty: addresses.
    package private(set) var types: [RecordType] = []
    package let form: Form
    package let usesSeconds: Bool
    package let isVerbose: Bool
    package let explains: Bool
    package let wantsDNSSEC: Bool
    package let wantsRecursion: Bool
    /// Nil: the resolver's own.
    package let timeout: Duration?
    package let parallel: Int
    package let list: String?
    /// How often each name is looked up; nil: once, or without end with ``watches``.
    package let rounds: Int?
    /// Whether names are looked up again and again, and changes shown.
    package let watches: Bool
    /// Between two rounds of a watch; nil: as long as the answer is good.
    package let interval: Duration?
    package let clientSubnet: AddressBlock?
    package let serviceParameters: ServiceParameters
    package let reading: NameReading

    /// Because: enough to hide a round trip of 100 ms behind 500 lookups a second, few enough for any
    /// resolver.
    static let usualParallel = 50

    /// - Throws: ``CommandFault``.
    package init(
        _ arguments: ParsedArguments, search: SearchList? = nil
    ) throws(CommandFault) {
        guard !(arguments.has(.json) && arguments.has(.short)) else {
            throw .usage("--json and --short exclude each other")
        }
        form = arguments.has(.json) ? .json : arguments.has(.short) ? .short : .table
        usesSeconds = arguments.has(.seconds)
        isVerbose = arguments.has(.verbose)
        explains = arguments.has(.explain)
        wantsDNSSEC = arguments.has(.dnssec)
        wantsRecursion = !arguments.has(.noRecursion)
        timeout = try arguments.duration(.timeout)
        parallel = try arguments.number(.parallel, in: 1...1_000) ?? LookupRequest.usualParallel
        list = arguments.value(.file)
        rounds = try arguments.number(.repetitions, in: 1...1_000_000)
        watches = arguments.has(.watch)
        interval = try arguments.duration(.interval)
        clientSubnet = try LookupRequest.clientSubnet(arguments)
        serviceParameters = try LookupRequest.serviceParameters(arguments)
        reading = NameReading(convertsUnicode: !arguments.has(.noIDN), search: search)
        try read(arguments)
        try checkCombinations()
    }

    private func checkCombinations() throws(CommandFault) {
        guard list == nil || form != .table || !explains else {
            throw .usage("--explain and --file exclude each other")
        }
        guard list == nil || (rounds == nil && !watches) else {
            throw .usage("--file and \(watches ? "--watch" : "--repeat") exclude each other")
        }
        guard interval == nil || watches else {
            throw .usage("--interval says how often to look again, but --watch is missing")
        }
    }

    /// The subject that a line of a list names; nil for an empty line. `#` begins a comment.
    package func subject(of line: ListReader.Line) -> LookupSubject? {
        var subject: LookupSubject
        switch line.content {
        case .text(let text):
            let name = text.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
            guard !name.isEmpty else { return nil }
            subject = LookupSubject(name, types: subjectTypes, reading: reading)
        case .octets(let octets, let place):
            subject = LookupSubject(
                unreadable: octets.escaped, because: "it is not UTF-8, from octet \(place) on",
                types: subjectTypes)
        case .tooLong(let start):
            subject = LookupSubject(
                unreadable: start.escaped + "…",
                because: "the line is longer than \(ListCutter.maximumOctets) octets",
                types: subjectTypes)
        }
        subject.line = line.number
        return subject
    }

    /// What is asked for one type of a name.
    package func question(_ name: HostName, _ type: RecordType) -> Question {
        var question = Question(name: name, type: type)
        question.wantsDNSSEC = wantsDNSSEC
        question.wantsRecursion = wantsRecursion
        question.clientSubnet = clientSubnet
        question.serviceParameters = serviceParameters
        return question
    }

    private static func clientSubnet(
        _ arguments: ParsedArguments
    ) throws(CommandFault) -> AddressBlock? {
        guard let text = arguments.value(.clientSubnet) else { return nil }
        do throws(AddressBlockError) { return try AddressBlock(text) } catch {
            throw .usage("--client-subnet \(quoted(text)): \(error)")
        }
    }

    private static func serviceParameters(
        _ arguments: ParsedArguments
    ) throws(CommandFault) -> ServiceParameters {
        var pairs: [(key: String, value: String)] = []
        for text in arguments.values(.sdns) {
            guard let equals = text.firstIndex(of: "=") else {
                throw .usage("--sdns \(quoted(text)) has no =; write KEY=VALUE")
            }
            pairs.append((String(text[..<equals]), String(text[text.index(after: equals)...])))
        }
        do throws(ServiceParameterError) { return try ServiceParameters(pairs) } catch {
            throw .usage("--sdns: \(error)")
        }
    }

    private var subjectTypes: [RecordType] { types.isEmpty ? [.a, .aaaa] : types }

    /// Whether the types are those that nobody named.
    package var asksForAddresses: Bool { types.isEmpty }

    private mutating func read(_ arguments: ParsedArguments) throws(CommandFault) {
        var names: [String] = []
        for word in arguments.words {
            if word.hasPrefix("@") {
                let resolver = String(word.dropFirst())
                // `@ 192.0.2.1` is a slip of the finger; an empty resolver is nobody.
                guard !resolver.isEmpty else { throw .usage("after @ a resolver must follow") }
                resolvers.append(resolver)
            } else if let type = try LookupRequest.type(word) {
                if !types.contains(type) { types.append(type) }
            } else {
                names.append(word)
            }
        }
        subjects = try (names + arguments.values(.name)).map { (text) throws(CommandFault) in
            if let address = try? IPAddress(text) {
                throw .usage("\(address) is an address, not a name; -x \(address) finds its name")
            }
            return LookupSubject(text, types: subjectTypes, reading: reading)
        }
        for text in arguments.values(.reverse) { subjects.append(try reverse(text)) }
        guard subjects.isEmpty, list == nil else { return }
        let hint =
            types.first.map {
                "; \"\($0.name)\" is a record type (--name \($0.name) makes it a name)"
            } ?? ": httpdns lookup NAME… [TYPE…] [@RESOLVER…]"
        throw .usage("no name to look up" + hint)
    }

    /// The type that a word names; nil when it is a name.
    private static func type(_ word: String) throws(CommandFault) -> RecordType? {
        if let type = RecordType(name: word) { return type }
        if let number = UInt16(word), word.first?.isNumber == true {
            return RecordType(rawValue: number)
        }
        let upper = word.uppercased()
        let isNumbered =
            upper.hasPrefix("TYPE") && upper.count > 4
            && upper.dropFirst(4).utf8.allSatisfy { (0x30...0x39).contains($0) }
        let looksLikeType =
            word.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
            && word.utf8.contains { (0x41...0x5A).contains($0) }
        guard isNumbered || looksLikeType else { return nil }
        let fault = CommandFault.unknown("record type", word, known: commonTypes)
        throw .usage(
            fault.message
                + " (TYPE0 to TYPE65535 name any; --name \(word.printable) makes it a name)")
    }

    /// Source: the contract of the tool.
    private static let commonTypes = [
        "A", "AAAA", "CNAME", "HTTPS", "SVCB", "MX", "NS", "TXT", "SOA", "SRV", "PTR", "CAA", "ANY",
    ]

    /// Source: RFC 1035 §3.5, RFC 3596 §2.5.
    private func reverse(_ text: String) throws(CommandFault) -> LookupSubject {
        let address: IPAddress
        do throws(AddressError) { address = try IPAddress(text) } catch {
            throw .usage("-x \(quoted(text)): \(error)")
        }
        guard address.zone == nil else {
            throw .usage(
                "-x \(quoted(text)): a zone names an interface of this machine, and no reverse name "
                    + "holds it; write the address alone")
        }
        let name: String
        switch address.family {
        case .ipv4: name = address.octets.reversed().map { "\($0)." }.joined() + "in-addr.arpa"
        case .ipv6:
            let digits = address.octets.reversed().flatMap { [$0 & 0xF, $0 >> 4] }
            name = digits.map { String($0, radix: 16) + "." }.joined() + "ip6.arpa"
        }
        return LookupSubject(name, types: types.isEmpty ? [.ptr] : types)
    }
}
