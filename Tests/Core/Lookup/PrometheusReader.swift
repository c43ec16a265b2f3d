/// Reads Prometheus' text format 0.0.4 strictly, as a scraper would.
struct PrometheusReader {
    struct Sample: Hashable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    enum Wrong: Error, Hashable {
        case noNewlineAtEnd
        case line(String, why: String)
        case histogram(String, why: String)
    }

    private(set) var help: [String: String] = [:]
    private(set) var types: [String: String] = [:]
    private(set) var samples: [Sample] = []

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Wrong.noNewlineAtEnd }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            let line = String(line)
            if line.hasPrefix("# ") { try readComment(line) } else { try readSample(line) }
        }
        for (name, type) in types where type == "histogram" { try checkHistogram(name) }
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func readComment(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4 else { throw Wrong.line(line, why: "four words") }
        let name = String(words[2])
        guard Self.isName(name, mayHaveColon: true) else { throw Wrong.line(line, why: "name") }
        switch words[1] {
        case "HELP" where help[name] == nil && types[name] == nil: help[name] = String(words[3])
        case "TYPE" where types[name] == nil && help[name] != nil: types[name] = String(words[3])
        default: throw Wrong.line(line, why: "HELP, then TYPE, once each")
        }
    }

    private mutating func readSample(_ line: String) throws {
        var rest = line[...]
        let name = String(rest.prefix { $0 != "{" && $0 != " " })
        rest = rest.dropFirst(name.count)
        guard Self.isName(name, mayHaveColon: true) else { throw Wrong.line(line, why: "name") }
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while rest.first != "}" {
                try Self.readLabel(&rest, into: &labels, line)
                if rest.first == "," { rest = rest.dropFirst() }
            }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()) else {
            throw Wrong.line(line, why: "value")
        }
        let base = family(of: name)
        guard types[base] != nil else { throw Wrong.line(line, why: "a sample before its TYPE") }
        guard self.value(name, labels) == nil else { throw Wrong.line(line, why: "twice") }
        samples.append(Sample(name: name, labels: labels, value: value))
    }

    private static func readLabel(
        _ rest: inout Substring, into labels: inout [String: String], _ line: String
    ) throws {
        let name = String(rest.prefix { $0 != "=" })
        rest = rest.dropFirst(name.count)
        guard isName(name, mayHaveColon: false), labels[name] == nil, rest.hasPrefix("=\"") else {
            throw Wrong.line(line, why: "label")
        }
        rest = rest.dropFirst(2)
        var value = ""
        while let letter = rest.popFirst(), letter != "\"" {
            guard letter == "\\" else {
                value.append(letter)
                continue
            }
            switch rest.popFirst() {
            case "n": value.append("\n")
            case "\\": value.append("\\")
            case "\"": value.append("\"")
            default: throw Wrong.line(line, why: "escape")
            }
        }
        labels[name] = value
    }

    private func family(of name: String) -> String {
        for ending in ["_bucket", "_sum", "_count"] where name.hasSuffix(ending) {
            let base = String(name.dropLast(ending.count))
            if types[base] == "histogram" { return base }
        }
        return name
    }

    /// Buckets rise, end at +Inf, and agree with the count.
    private func checkHistogram(_ name: String) throws {
        let series = Set(samples.filter { $0.name == name + "_count" }.map(\.labels))
        guard !series.isEmpty else { throw Wrong.histogram(name, why: "no count") }
        for labels in series {
            let buckets = samples.filter {
                $0.name == name + "_bucket"
                    && $0.labels.filter { $0.key != "le" } == labels
            }
            let bounds = buckets.compactMap { Double($0.labels["le"] ?? "") }
            let counts = buckets.map(\.value)
            guard bounds.count == buckets.count, bounds == bounds.sorted(),
                bounds.last == .infinity, counts == counts.sorted(),
                counts.last == value(name + "_count", labels), value(name + "_sum", labels) != nil
            else { throw Wrong.histogram(name, why: "\(labels)") }
        }
    }

    private static func isName(_ text: String, mayHaveColon: Bool) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || $0 == 0x5F || ($0 == 0x3A && mayHaveColon)
        }
    }
}
