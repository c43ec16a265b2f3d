import Glibc

guard let options = SessionSoakOptions(Array(CommandLine.arguments.dropFirst())) else {
    say(SessionSoakOptions.usage)
    exit(2)
}
let faults = try await SessionSoak(options).run()
for fault in faults { say("fault: \(fault)") }
say(faults.isEmpty ? "passed" : "failed")
exit(faults.isEmpty ? 0 : 1)
