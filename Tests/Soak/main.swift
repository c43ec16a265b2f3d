import Glibc
import HTTPDNSNames

// Its own second process: the servers.
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--laboratory" {
    let start = Monotonic(nanoseconds: Int64(CommandLine.arguments[2]) ?? 0)
    try Laboratory(from: start).serve()
    exit(0)
}

if CommandLine.arguments.dropFirst() == ["--handshake-laboratory"] {
    try HandshakeLaboratory().serve()
    exit(0)
}

// What is left of handshakes, in place of the load.
if CommandLine.arguments.count > 1, CommandLine.arguments[1] == "--handshakes" {
    guard CommandLine.arguments.count == 3, let wanted = Int(CommandLine.arguments[2]), wanted > 0
    else {
        print(HandshakeSoak.usage)
        exit(2)
    }
    exit(try await HandshakeSoak.run(wanted) ? 0 : 1)
}

guard let options = SoakOptions(Array(CommandLine.arguments.dropFirst())) else {
    print(SoakOptions.usage)
    exit(2)
}
print(
    "soak: \(options.seconds) s at \(options.rate) lookups a second, --seed \(options.seed), "
        + "\(options.latenessMilliseconds) ms of lateness allowed")
let report = try await Soak.run(options)
print(options.isJSON ? report.json : report.text)
exit(report.faults.isEmpty ? 0 : 1)
