internal import CHTTPDNSSystem
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPinLab
internal import HTTPDNSPlatform

/// `lab hijack serve`: starts hijacks and keeps them until the process is ended.
struct HijackServing {
    private let scenarios: [HijackScenario]
    private let arguments: ParsedArguments
    private let console: Console

    init(_ arguments: ParsedArguments, _ console: Console) throws(CommandFault) {
        self.arguments = arguments
        self.console = console
        try HijackVerb.serve.refuseOthers(arguments)
        var named: [HijackScenario] = []
        for name in arguments.words.dropFirst(2) {
            do throws(LabError) { named.append(try HijackScenario.named(name)) } catch {
                let fault = CommandFault.unknown(
                    "hijack", name, known: HijackScenario.all.map(\.name))
                throw .usage(fault.message + "; \"httpdns lab hijack list\" names them all")
            }
        }
        guard named.isEmpty || !arguments.has(.only) else {
            throw .usage("--only and names: choose in one way")
        }
        scenarios = named.isEmpty ? try HijackVerbs.scenarios(arguments) : named
    }

    func run() async throws(CommandFault) -> ExitCode {
        httpdns_signals_of_parent()
        let lab: HijackLab
        do throws(LabError) { lab = try HijackLab() } catch { throw .usage("\(error)") }
        let files = try LabFiles(
            arguments.value(.directory), authorityPEM: lab.authorityPEM, console: console)
        var stages: [HijackStage] = []
        var objects: [JSONValue] = []
        for scenario in scenarios {
            guard let stage = try opened(scenario, in: lab) else { continue }
            let configuration = try files.write(configuration: stage)
            let sheet = HijackSheet(
                stage: stage, authority: files.authority, configuration: configuration)
            stages.append(stage)
            objects.append(sheet.json)
            if arguments.has(.json) {
                console.print(json: sheet.json)
            } else {
                sheet.lines.forEach(console.print)
            }
        }
        if arguments.value(.directory) != nil {
            let text = String(decoding: JSONWriter.octets(.array(objects)), as: UTF8.self)
            try files.write("targets.json", text + "\n")
        }
        if !arguments.has(.json) { console.print(LabVerb.ending) }
        // Until a signal ends the process.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        withExtendedLifetime((files, stages)) {}
        return .succeeded
    }

    /// In its last state: whoever works by hand comes once.
    private func opened(
        _ scenario: HijackScenario, in lab: HijackLab
    ) throws(CommandFault) -> HijackStage? {
        do throws(LabError) {
            let stage = try lab.open(scenario)
            try stage.beginLast()
            return stage
        } catch {
            guard case .notServed = error else { throw .usage("\(error)") }
            console.note("\(scenario.name): \(error)")
            return nil
        }
    }
}

/// How to go through a hijack by hand. Pure.
struct HijackSheet {
    let stage: HijackStage
    let authority: String
    /// A file for `--config`.
    let configuration: String

    private var target: HijackTarget { stage.target }

    var lines: [String] {
        let target = target
        let scenario = stage.scenario
        var lines = [
            "\(scenario.name): \(scenario.deed)",
            "  seen      \(scenario.seen)", "  client    \(scenario.duty)",
            "  verdict   \(scenario.finding)", "  URL       \(target.url)",
        ]
        for source in target.resolvers { lines.append("  asks      " + HijackSheet.words(source)) }
        for source in target.trusted { lines.append("  trusts    " + HijackSheet.words(source)) }
        let told = target.told.map(\.description).joined(separator: ", ")
        lines += [
            "  told      " + (told.isEmpty ? "no address" : told),
            "  no DNS    \(target.vacantDNS.text)", "  probe     \(target.probeURL)",
            "  CA file   \(authority.printable)", "  config    \(configuration.printable)",
        ]
        return lines + commands.map { "  $ " + $0.printable } + [""]
    }

    /// What can be typed as it stands.
    var commands: [String] {
        let target = target
        let root = " --cacert " + HijackSheet.shell(authority)
        let file = HijackSheet.shell(configuration)
        var commands: [String] = []
        if let alone = alone(target.resolvers) {
            commands.append("httpdns fetch \(target.url) \(alone)\(root)")
        }
        commands.append("httpdns fetch \(target.url) --config \(file)\(root)")
        commands.append(diagnosis(target) + root)
        // Elsewhere nobody is to be sent.
        for address in target.told where address.isLoopback {
            let place = address.uriText
            commands.append(
                "curl -sS --cacert \(HijackSheet.shell(authority)) --resolve "
                    + "\(target.host):\(target.port):\(place) \(target.url)")
        }
        return commands
    }

    /// Of what is here, and nothing else.
    private func diagnosis(_ target: HijackTarget) -> String {
        var words = ["httpdns diagnose \(target.host):\(target.port) --no-system --hosts none"]
        let servers = target.resolvers.filter { $0.form == .datagram }
        words += servers.map { "--nameserver " + $0.text }
        if servers.isEmpty { words.append("--nameserver none") }
        for source in target.resolvers where source.form != .datagram {
            words.append("--resolver \(source.text) --config \(HijackSheet.shell(configuration))")
        }
        words += target.trusted.map { "--trusted " + $0.text }
        if let port = target.otherPort { words.append("--other-port \(port)") }
        if let port = target.vacantPort { words.append("--vacant-port \(port)") }
        words.append("--probe \(target.probeURL) --http-port \(target.probePort)")
        words.append("--dark-address \(target.vacantDNS.text) --stay-on-loopback")
        return words.joined(separator: " ")
    }

    private func alone(_ resolvers: [HijackSource]) -> String? {
        guard let first = resolvers.first else { return nil }
        guard case .provider(let name) = first.form, let url = first.url else {
            return "--resolver \(first.text)"
        }
        // The key of a service is in the configuration file alone.
        return first.key == nil ? "--resolver \(name) --endpoint \(url)" : nil
    }

    private static func words(_ source: HijackSource) -> String {
        guard let url = source.url, source.text != url else { return source.text }
        return "\(source.text) at \(url)"
    }

    /// A word for a shell.
    private static func shell(_ word: String) -> String {
        let isPlain = word.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0))
        }
        return isPlain
            ? word
            : "'"
                + word.split(
                    separator: "'", omittingEmptySubsequences: false
                ).joined(separator: "'\\''") + "'"
    }

    var json: JSONValue {
        let target = target
        let texts = { (list: [String]) in JSONValue.array(list.map { .string($0) }) }
        var object = JSONObject()
        object["scenario"] = .string(stage.scenario.name)
        object["expected"] = .string(stage.scenario.finding.description)
        object["url"] = .string(target.url)
        object["host"] = .string(target.host)
        object["port"] = .integer(Int64(target.port.number))
        object["resolvers"] = texts(target.resolvers.map(\.text))
        object["endpoints"] = texts(target.resolvers.compactMap(\.url))
        object["trusted"] = texts(target.trusted.map(\.text))
        object["told"] = texts(target.told.map(\.description))
        object["noDNS"] = .string(target.vacantDNS.text)
        object["otherPort"] = target.otherPort.map { .integer(Int64($0.number)) } ?? .null
        object["vacantPort"] = target.vacantPort.map { .integer(Int64($0.number)) } ?? .null
        object["probe"] = .string(target.probeURL)
        object["cacert"] = .string(authority)
        object["config"] = .string(configuration)
        object["genuine"] = .string(target.genuine)
        object["forged"] = .string(target.forged)
        object["commands"] = texts(commands)
        return .object(object)
    }
}
