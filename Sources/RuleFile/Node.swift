internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSRules

/// One value of the file, with its place, and what can be asked of it.
struct Node {
    let json: LocatedJSON
    /// `rules[2].when`
    let path: String
    let text: RuleText

    init(_ json: LocatedJSON, path: String, text: RuleText) {
        self.json = json
        self.path = path
        self.text = text
    }

    func fault(_ message: String) -> RuleFileFault { text.fault(at: json.offset, path, message) }

    private func child(_ json: LocatedJSON, _ name: String) -> Node {
        Node(json, path: path.isEmpty ? name : path + "." + name, text: text)
    }

    /// What a fault of a rule's own making becomes here.
    func making<Value>(
        _ make: () throws(RuleFault) -> Value
    ) throws(RuleFileFault) -> Value {
        do throws(RuleFault) { return try make() } catch { throw fault(error.description) }
    }

    // MARK: Objects

    /// The members of an object: each name at most once, none unknown.
    func members(_ known: [String]) throws(RuleFileFault) -> [String: Node] {
        var found: [String: Node] = [:]
        for (name, node, offset) in try pairs() {
            guard known.contains(name) else {
                let hint = Nearest.word(to: name, in: known).map { "; did you mean \"\($0)\"?" }
                throw text.fault(
                    at: offset, node.path,
                    "unknown member \"\(HostText.plain(name))\""
                        + (hint ?? "; known are \(known.joined(separator: ", "))"))
            }
            found[name] = node
        }
        return found
    }

    /// The members of an object whose names are free, in order.
    func pairs() throws(RuleFileFault) -> [(name: String, value: Node, offset: Int)] {
        guard let members = json.members else { throw expected("an object") }
        if let duplicate = json.duplicate {
            throw text.fault(
                at: duplicate.nameOffset, path,
                "\"\(HostText.plain(duplicate.name))\" stands twice; keep one")
        }
        return members.map {
            ($0.name, child($0.value, HostText.plain($0.name)), $0.nameOffset)
        }
    }

    func expected(_ what: String) -> RuleFileFault {
        fault("\(what) is expected, not \(json.kind)")
    }

    // MARK: Scalars and lists

    func string() throws(RuleFileFault) -> String {
        guard let string = json.string else { throw expected("a string") }
        return string
    }

    func flag() throws(RuleFileFault) -> Bool {
        guard let flag = json.bool else { throw expected("true or false") }
        return flag
    }

    func integer(_ range: ClosedRange<Int>) throws(RuleFileFault) -> Int {
        guard let integer = json.integer.flatMap({ Int(exactly: $0) }) else {
            guard case .scalar(let value) = json.content, value.number != nil else {
                throw expected("a whole number")
            }
            let number = String(decoding: written(json).prefix(24), as: UTF8.self)
            throw fault("a whole number is expected, not \(number)")
        }
        guard range.contains(integer) else {
            throw fault("\(integer) is not in \(range.lowerBound)...\(range.upperBound)")
        }
        return integer
    }

    func number(_ range: ClosedRange<Double>) throws(RuleFileFault) -> Double {
        guard case .scalar(let value) = json.content, let number = value.number else {
            throw expected("a number")
        }
        guard range.contains(number) else {
            throw fault("\(number) is not in \(range.lowerBound)...\(range.upperBound)")
        }
        return number
    }

    func list() throws(RuleFileFault) -> [Node] {
        guard let array = json.array else { throw expected("an array") }
        return array.enumerated().map {
            Node($0.element, path: "\(path)[\($0.offset)]", text: text)
        }
    }

    /// One value, or an array of some.
    func oneOrMore() throws(RuleFileFault) -> [Node] {
        guard json.array != nil else { return [self] }
        let list = try list()
        guard !list.isEmpty else { throw fault("an empty array fits nothing; leave it out") }
        return list
    }

    /// One of a few words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type = Choice.self
    ) throws(RuleFileFault) -> Choice where Choice.RawValue == String {
        let word = try string()
        if let choice = Choice(rawValue: word) { return choice }
        throw unknown(word, Choice.allCases.map(\.rawValue))
    }

    func unknown(_ word: String, _ known: [String]) -> RuleFileFault {
        let hint = Nearest.word(to: word, in: known).map { "; did you mean \"\($0)\"?" }
        return fault(
            "\"\(HostText.plain(word))\" is not known here"
                + (hint ?? "; known are \(known.joined(separator: ", "))"))
    }

    /// `250ms`, `1.5s`
    func duration() throws(RuleFileFault) -> Duration {
        let text = try string()
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = ["ms": 1.0, "s": 1_000.0][String(text.dropFirst(digits.count))]
        guard let unit, digits.count <= 9, let number = Double(digits), number * unit <= 86_400_000
        else { throw fault("a time is expected, such as \"250ms\" or \"1.5s\", of a day at most") }
        return .milliseconds(Int64((number * unit).rounded()))
    }

    /// The value as a JSON text of its own. Numbers stand in it as they are written: as a `Double`
    /// many would be others.
    func jsonText() -> [UInt8] {
        var octets: [UInt8] = []
        write(json, to: &octets)
        return octets
    }

    private func write(_ json: LocatedJSON, to octets: inout [UInt8]) {
        switch json.content {
        case .scalar(let value):
            octets += value.number == nil ? JSONWriter.octets(value) : Array(written(json))
        case .array(let elements):
            octets.append(UInt8(ascii: "["))
            for (place, element) in elements.enumerated() {
                if place > 0 { octets.append(UInt8(ascii: ",")) }
                write(element, to: &octets)
            }
            octets.append(UInt8(ascii: "]"))
        case .object(let members):
            // Of two members of one name the last one counts, as where they are read.
            let last = Dictionary(
                members.enumerated().map { ($0.element.name, $0.offset) },
                uniquingKeysWith: { _, later in later })
            let kept = members.enumerated().filter { last[$0.element.name] == $0.offset }
            octets.append(UInt8(ascii: "{"))
            for (place, member) in kept.enumerated() {
                if place > 0 { octets.append(UInt8(ascii: ",")) }
                octets += JSONWriter.octets(.string(member.element.name)) + [UInt8(ascii: ":")]
                write(member.element.value, to: &octets)
            }
            octets.append(UInt8(ascii: "}"))
        }
    }

    /// A number, as it stands in the file. Source: RFC 8259 §6.
    private func written(_ json: LocatedJSON) -> ArraySlice<UInt8> {
        text.octets.dropFirst(json.offset).prefix { octet in
            [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(octet) || (0x30...0x39).contains(octet)
        }
    }
}
