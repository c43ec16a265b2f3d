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
        var named: [LabScenario] = []
        for name in arguments.words.dropFirst() {
            do throws(LabError) { named.append(try LabScenario.named(name)) } catch {
                let fault = CommandFault.unknown(
                    "scenario", name, known: LabScenario.all.map(\.name))
                throw .usage(fault.message + "; \"httpdns lab list\" names them all")
            }
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
            stages = try opened(bench, proxy)
        } catch { throw .usage("\(error)") }
        let files = try LabFiles(
            arguments.value(.directory), authorityPEM: bench.authorityPEM, console: console)
        if arguments.value(.directory) != nil {
            let lines = stages.map { LabServing.json($0, files.authority, proxy) }
            try files.write(
                "targets.json",
                String(decoding: JSONWriter.octets(.array(lines)), as: UTF8.self) + "\n")
        }
        show(stages, files, proxy)
        // Until a signal ends the process.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        withExtendedLifetime((files, stages, proxy)) {}
        return .succeeded
    }

    private func opened(_ bench: LabBench, _ proxy: LabProxy) throws(LabError) -> [LabStage] {
        var stages: [LabStage] = []
        for scenario in scenarios {
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

    private func show(_ stages: [LabStage], _ files: LabFiles, _ proxy: LabProxy) {
        if arguments.has(.json) {
            for stage in stages {
                console.print(json: LabServing.json(stage, files.authority, proxy))
            }
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
        console.print("Address  \(LabAddress.ipv4)")
        console.print("Proxy    " + proxy.url)
        guard let first = stages.first?.target else { return }
        console.print(
            "Try      curl --cacert \(files.authority.printable) --resolve "
                + "\(first.host):\(first.port):\(first.address) \(first.url)")
        console.print("Ctrl-C ends them.")
    }

    private static func json(
        _ stage: LabStage, _ authority: String, _ proxy: LabProxy
    ) -> JSONValue {
        let target = stage.target
        return [
            "scenario": .string(stage.scenario.name),
            "expected": .string(stage.scenario.expectation.verdict.rawValue),
            "url": .string(target.url), "host": .string(target.host),
            "port": .integer(Int64(target.port.number)), "ip": .string("\(target.address)"),
            "cacert": .string(authority), "proxy": .string(proxy.url),
            "pins": .array(target.pins.map { .string($0.description) }),
        ]
    }
}
