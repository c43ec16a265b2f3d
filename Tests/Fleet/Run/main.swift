// The tier of docs/fleet.md under load while its servers go: `scripts/fleet`.

import FleetLab
import Glibc

let usage = "usage: scripts/fleet [--quick] [--json] [--rate N] [--hosts N] [--seconds N]"
var run = FleetRun(tool: "/" + CommandLine.arguments[0])
var isJSON = false
var words = CommandLine.arguments.dropFirst()

@Sendable func complain(_ line: String) {
    let octets = Array("fleet: \(line)\n".utf8)
    write(2, octets, octets.count)
}

func refuse() -> Never {
    print(usage)
    exit(2)
}

guard let tool = words.popFirst() else { refuse() }
run.tool = tool
while let word = words.popFirst() {
    switch word {
    case "--json": isJSON = true
    case "--quick": run.seconds = 3
    case "--rate", "--hosts", "--seconds":
        guard let number = words.popFirst().flatMap({ Int64($0) }), (1...100_000).contains(number)
        else { refuse() }
        switch word {
        case "--rate": run.rate = number
        case "--hosts": run.hosts = Int(number)
        default: run.seconds = number
        }
    default: refuse()
    }
}
run.say = { complain($0) }
do {
    let report = try await run.run()
    print(isJSON ? "\(report.json)" : report.text)
    exit(report.hasPassed ? 0 : 1)
} catch {
    complain("\(error)")
    exit(3)
}
