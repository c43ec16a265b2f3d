internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// A program as a client: `curl --cacert {cacert} --resolve {host}:{port}:{ip} {url}`.
///
/// It is run once for each scenario, without a shell and without a variable that names a proxy. It has
/// accepted when its exit code is 0.
public struct LabCommand: LabClient {
    /// The program and its arguments, with placeholders.
    public let words: [String]
    /// The file with the root that is to be trusted.
    public let authorityFile: String
    /// How long one run may take.
    public var timeoutMilliseconds: Int64 = 10_000
    /// The URL of a proxy that the program is told of in its environment; nil for none.
    public var proxy: String?
    /// Where ``LabBench/logList`` was written; nil: the program is told no logs.
    public var logListFile: String?
    /// Where revocation lists are put for one run each, as ``revocationListFile(of:)``; nil: the
    /// program is told none.
    public var revocationListFolder: String?
    private let threads = ThreadGroup()
    private let stop: StopSignal

    /// What may stand in the words, and what it becomes.
    public static let placeholders: [(name: String, meaning: String)] = [
        ("{url}", "https://wrong-pin.lab.test:40123/"),
        ("{host}", "the name in the URL, or the address"),
        ("{port}", "the port in the URL"),
        ("{ip}", "the address that the name stands for: 127.0.0.1"),
        ("{cacert}", "a file with the one root to trust, PEM"),
        ("{pin}", "the first pin: sha256/…"),
        ("{pins}", "all pins: sha256/…,sha256/…"),
        ("{curlpin}", "the first pin as curl writes it: sha256//…"),
        ("{curlpins}", "all pins as curl writes them: sha256//…;sha256//…"),
        ("{ctlogs}", "a file with the keys of the known logs, base64, one a line"),
        ("{crl}", "a file with a revocation list of each authority, PEM"),
        ("{proxy}", "a proxy that leads every name to the laboratory: http://127.0.0.1:40120"),
    ]

    /// - Parameters:
    ///   - words: The program, found on PATH, and its arguments.
    ///   - authorityFile: Where ``LabBench/authorityPEM`` was written.
    /// - Throws: ``LabError`` when the system is short of descriptors.
    public init(_ words: [String], authorityFile: String) throws(LabError) {
        self.words = words
        self.authorityFile = authorityFile
        stop = try StopSignal()
    }

    /// Whether it says where to go; without that no scenario can be told from another.
    public var namesTarget: Bool { has("{url}") || has("{host}") || has("{port}") }

    /// Whether it says how to get there: the names are in no DNS.
    public var namesRoute: Bool {
        has("{ip}") || has("{proxy}") || proxy != nil
            || ["127.0.0.1", "localhost", "[::1]"].contains(where: has)
    }

    /// Words in braces that are no placeholders, and look like it: `{pinn}`. Not those of other
    /// languages: `${name}` and `%{name}`.
    public var unknownPlaceholders: [String] {
        let known = LabCommand.placeholders.map(\.name)
        return words.flatMap(LabCommand.braced).filter { !known.contains($0) }
    }

    static func braced(_ word: String) -> [String] {
        var found: [String] = []
        var rest = word[...]
        while let open = rest.firstIndex(of: "{") {
            let before = open > word.startIndex ? word[word.index(before: open)] : " "
            let name = rest[rest.index(after: open)...].prefix { $0.isASCII && $0.isLowercase }
            if !name.isEmpty, name.endIndex < rest.endIndex, rest[name.endIndex] == "}",
                before != "$", before != "%"
            {
                found.append("{\(name)}")
            }
            rest = rest[rest.index(after: open)...]
        }
        return found
    }

    /// The file of a scenario's revocation lists in ``revocationListFolder``.
    public static func revocationListFile(of scenario: LabScenario) -> String {
        scenario.name + ".crl.pem"
    }

    /// Why the scenario would say nothing about this program; nil: it is to be played.
    public func excuse(for scenario: LabScenario) -> String? {
        if scenario.needs.contains(.sequence) {
            return "several requests of one client: play it with the library (LabStage.steps)"
        }
        if scenario.needs.contains(.pins), !has("{pins}"), !has("{curlpins}") {
            return "needs {pins} or {curlpins} in the command"
        }
        let hasPin = ["{pin}", "{pins}", "{curlpin}", "{curlpins}"].contains(where: has)
        if scenario.needs.contains(.pin), !hasPin {
            return "needs {pin} or {curlpin} in the command"
        }
        if scenario.needs.contains(.transparency), !has("{ctlogs}") {
            return "needs {ctlogs} in the command, which then demands time stamps"
        }
        if scenario.needs.contains(.revocationLists), !has("{crl}") {
            return "needs {crl} in the command"
        }
        return nil
    }

    /// Source: sh(1): 128 and the number of the signal that ended it.
    private func word(_ exitCode: Int32) -> String {
        exitCode > 128 && exitCode < 160
            ? LabGrade.crash + "\(exitCode - 128)" : "exit \(exitCode)"
    }

    /// Runs the program once.
    public func play(_ stage: LabStage) -> LabPlay {
        var lists: String?
        defer { if let lists { unlink(lists) } }
        if has("{crl}"), let folder = revocationListFolder {
            let path = folder + "/" + LabCommand.revocationListFile(of: stage.scenario)
            lists = path
            do throws(FileFault) {
                let text = stage.target.revocationLists ?? ""
                try ReplacedFile.replace(path, with: Array(text.utf8))
            } catch {
                var play = LabPlay([])
                play.trouble = "\(error)"
                return play
            }
        }
        return run(stage, lists)
    }

    private func run(_ stage: LabStage, _ lists: String?) -> LabPlay {
        let isStall = stage.scenario.isStall
        let child = LabChild(
            words: filled(stage.target, lists),
            environment: LabCommand.environment()
                + (proxy.map { ["https_proxy=" + $0, "HTTPS_PROXY=" + $0] } ?? []),
            timeoutMilliseconds: isStall
                ? min(timeoutMilliseconds, LabCommand.stallMilliseconds) : timeoutMilliseconds)
        do throws(LabError) {
            let ended = try child.run(threads, stop: stop)
            let outcome: LabOutcome =
                ended.isTimedOut
                ? .timedOut : ended.exitCode == 0 ? .accepted : .refused(word(ended.exitCode))
            var play = LabPlay([outcome])
            play.exitCode = ended.isTimedOut ? nil : ended.exitCode
            play.output = String(decoding: ended.output, as: UTF8.self)
            play.milliseconds = ended.milliseconds
            return play
        } catch {
            var play = LabPlay([])
            play.trouble = "\(error)"
            return play
        }
    }

    /// The words with every placeholder filled in; what else stands in braces stays.
    func filled(_ target: LabTarget, _ lists: String? = nil) -> [String] {
        let pins = target.pins.map(\.description)
        let curlPins = pins.map { "sha256//" + $0.dropFirst("sha256/".count) }
        let values = [
            "{url}": target.url, "{host}": target.host, "{port}": "\(target.port)",
            "{ip}": "\(target.address)", "{cacert}": authorityFile,
            "{pin}": pins.first ?? "", "{pins}": pins.joined(separator: ","),
            "{curlpin}": curlPins.first ?? "", "{curlpins}": curlPins.joined(separator: ";"),
            "{proxy}": proxy ?? "", "{ctlogs}": logListFile ?? "", "{crl}": lists ?? "",
        ]
        return words.map { LabCommand.filled($0, values) }
    }

    /// The word with these placeholders filled in; what else stands in braces stays.
    static func filled(_ word: String, _ values: [String: String]) -> String {
        var text = ""
        var rest = word[...]
        while let open = rest.firstIndex(of: "{") {
            text += rest[..<open]
            rest = rest[open...]
            if let close = rest.firstIndex(of: "}"), let value = values[String(rest[...close])] {
                text += value
                rest = rest[rest.index(after: close)...]
            } else {
                text.append(rest.removeFirst())
            }
        }
        return text + rest
    }

    private func has(_ placeholder: String) -> Bool {
        words.contains { $0.contains(placeholder) }
    }

    /// This process's variables without those of proxies, which would lead elsewhere.
    static func environment() -> [String] {
        var variables: [String] = []
        while let variable = httpdns_environment_at(Int32(variables.count)) {
            variables.append(String(cString: variable))
        }
        variables.removeAll { variable in
            let name = variable.prefix { $0 != "=" }.lowercased()
            return name.hasSuffix("_proxy")
        }
        return variables
    }

    /// How long a client is watched that waits for a server which stays silent.
    ///
    /// Because: one that would go on without a proof does so at once; one that hangs hangs longer.
    private static let stallMilliseconds: Int64 = 3_000
}
