import Glibc
import HTTPDNSNames

// Its own second process: the servers.
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--laboratory" {
    let start = Monotonic(nanoseconds: Int64(CommandLine.arguments[2]) ?? 0)
    try Laboratory(from: start).serve()
    exit(0)
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
