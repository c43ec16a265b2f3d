internal import CHTTPDNSSystem
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPinLab
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// `lab serve`: starts servers and keeps them until the process is ended.
struct LabServing {
    private let scenarios: [LabScenario]
    private let arguments: ParsedArguments
    private let console: Console
    private let port: Int?

    init(_ arguments: ParsedArguments, _ console: Console) throws(CommandFault) {
        self.arguments = arguments
        self.console = console
        try LabVerb.serve.refuseOthers(arguments)
        var named: [LabScenario] = []
        for name in arguments.words.dropFirst() {
            do throws(LabError) { named.append(try LabScenario.named(name)) } catch {
                let fault = CommandFault.unknown(
                    "scenario", name, known: LabScenario.all.map(\.name))
                throw .usage(fault.message + "; \"httpdns lab list\" names them all")
            }
        }
        guard named.isEmpty || !arguments.has(.only) else {
            throw .usage("--only and names: choose in one way")
        }
        if arguments.has(.noFault) { named = named.map(\.repaired) }
        scenarios = named.isEmpty ? try LabChoice.scenarios(arguments) : named
        port = try arguments.number(.firstPort, in: 1...65_535)
        if let port, port + scenarios.count - 1 > Int(UInt16.max) {
            throw .usage(
                "--port \(port) leaves no room for \(scenarios.count) scenarios below 65536")
        }
    }

    func run() async throws(CommandFault) -> ExitCode {
        httpdns_signals_of_parent()
        let stages: [LabStage]
        let proxy: LabProxy
        let bench: LabBench
        do throws(LabError) {
            bench = try LabBench(seed: arguments.value(.seed))
            proxy = try LabProxy()
            try proxy.start()
        } catch { throw .usage("\(error)") }
        let files = try LabFiles(arguments.value(.directory), bench, console: console)
        // Said at once: RSA keys take their time.
        console.note(
            scenarios.count == 1 ? "starting a server" : "starting \(scenarios.count) servers")
        do throws(LabError) { stages = try opened(bench, proxy) } catch {
            throw .usage("\(error)")
        }
        var objects: [JSONValue] = []
        for stage in stages { objects.append(try LabServing.json(stage, files, proxy)) }
        if arguments.value(.directory) != nil {
            let lines = objects
            try files.write(
                "targets.json",
                String(decoding: JSONWriter.octets(.array(lines)), as: UTF8.self) + "\n")
        }
        show(stages, files, proxy, objects)
        // Until a signal ends the process.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        withExtendedLifetime((files, stages, proxy)) {}
        return .succeeded
    }

    private func opened(_ bench: LabBench, _ proxy: LabProxy) throws(LabError) -> [LabStage] {
        var stages: [LabStage] = []
        let isShown = console.errors.isTerminal
        defer { if isShown { console.errors.write("\r\u{1B}[K") } }
        for (count, scenario) in scenarios.enumerated() {
            if isShown { console.errors.write("\r\u{1B}[K\(count) of \(scenarios.count)") }
            let number = port.map { $0 + stages.count }
            do {
                let stage = try bench.open(
                    scenario, port: number.flatMap { UInt16(exactly: $0) }.flatMap { Port($0) })
                proxy.admit(stage)
                stages.append(stage)
            } catch {
                guard case .notServed = error else { throw error }
                console.note("\(scenario.name): \(error)")
            }
        }
        return stages
    }

    private func show(
        _ stages: [LabStage], _ files: LabFiles, _ proxy: LabProxy, _ objects: [JSONValue]
    ) {
        if arguments.has(.json) {
            for object in objects { console.print(json: object) }
            return
        }
        var table = TextTable(["SCENARIO", "MUST", "URL", "PINS"])
        for stage in stages {
            table.add([
                stage.scenario.name, stage.scenario.expectation.verdict.rawValue, stage.target.url,
                stage.target.pins.map(\.description).joined(separator: ","),
            ])
        }
        table.lines(console.outputPaint).forEach(console.print)
        console.print("")
        console.print("CA file  " + files.authority.printable)
        console.print("CT logs  " + files.logs.printable)
        console.print("Address  \(LabAddress.ipv4)")
        console.print("Proxy    " + proxy.url)
        guard let first = stages.first?.target else { return }
        console.print(
            "Try      curl --cacert \(files.authority.printable) --resolve "
                + "\(first.host):\(first.port):\(first.address) \(first.url)")
        console.print(LabVerb.ending)
    }

    private static func json(
        _ stage: LabStage, _ files: LabFiles, _ proxy: LabProxy
    ) throws(CommandFault) -> JSONValue {
        let lists = try files.lists(of: stage)
        let target = stage.target
        return [
            "scenario": .string(stage.scenario.name),
            "expected": .string(stage.scenario.expectation.verdict.rawValue),
            "url": .string(target.url), "host": .string(target.host),
            "port": .integer(Int64(target.port.number)), "ip": .string("\(target.address)"),
            "cacert": .string(files.authority), "ctLogs": .string(files.logs),
            "crl": lists.map { .string($0) } ?? .null, "proxy": .string(proxy.url),
            "pins": .array(target.pins.map { .string($0.description) }),
        ]
    }
}
