// Keeps answers in the file named by its argument until it is killed. After each round of 200 it
// says its number, so that whoever kills it knows that there is something in the file.
import Glibc
import HTTPDNSLookup
import HTTPDNSStore
import TestSupport

@Sendable func say(_ line: String, on descriptor: Int32) {
    let octets = Array("\(line)\n".utf8)
    _ = write(descriptor, octets, octets.count)
}

// A process that closes nothing to others by itself.
umask(0)
let path = CommandLine.arguments.dropFirst().first ?? ""
let first = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 0
let store = SQLiteAnswerStore(path: path) { event in
    say("\(event)", on: 2)
}
for round in first... {
    for number in 0..<200 {
        if let testimony = try? ProvenAnswers.testimony(number, round: round) {
            store.keep(testimony, scope: "", lifeSeconds: 3_600)
        }
    }
    await store.flush()
    say("\(round)", on: 1)
}
