// What a test wants done in a process of its own:
//
//     TestChild keep FILE ROUND   keeps answers until it is killed; says each round's number when all
//                                 200 of it are in the file
//     TestChild capture FILE ROUND   records until it is killed; says each round's number when all 50
//                                 of it are in the file
//     TestChild watch             says `ready`, then each network that it finds itself on, until its
//                                 input ends
//     TestChild sessions PORT ROOT    sends tasks of a URLSession of every kind to a host of
//                                     127.0.0.1, with a certificate under the authority of a PEM
//                                     file; says what became of each
//     TestChild responses DIR ROUND   keeps responses until it is killed; says each round's number
//                                     when all 30 of it are whole
//     TestChild large PORT ROOT DIR   reads a large body twice through a session that keeps it; says
//                                     how much memory that took
//     TestChild storm COUNT       makes so many async calls of a URLSession that fail as they begin, and
//                                 cancels each meanwhile; says how many failed
//     TestChild own ADDRESS…      says of each IPv4 address whether it is one of this machine: 1 or 0
import CHTTPDNSSystem
import Glibc
import HTTPDNSLookup
import HTTPDNSPlatform
import HTTPDNSStore
import HTTPDNSURLSession
import TestSupport

@Sendable func say(_ line: String, on descriptor: Int32 = 1) {
    let octets = Array("\(line)\n".utf8)
    _ = write(descriptor, octets, octets.count)
}

func keep(_ path: String, from first: Int) async {
    // A process that closes nothing to others by itself.
    umask(0)
    let store = SQLiteAnswerStore(path: path) { say("\($0)", on: 2) }
    for round in first... {
        for number in 0..<200 {
            if let testimony = try? ProvenAnswers.testimony(number, round: round) {
                store.keep(testimony, scope: "", lifeSeconds: 3_600)
            }
        }
        await store.flush()
        say("\(round)")
    }
}

func capture(_ path: String, from first: Int) async throws {
    umask(0)
    let capture = Capture(CaptureConfiguration(path: path))
    let body = [UInt8](repeating: 0x2A, count: 100_000)
    for round in first... {
        for number in 0..<50 {
            var hop = CaptureRecord.Hop(url: "https://shop.example.test/\(number)")
            hop.status = 200
            hop.responseFields = [.init("Content-Type", "image/png")]
            var record = CaptureRecord(.exchange, hop, startedAt: Capture.now)
            record.rule = "\(round)"
            if number == 49 { record.responseBody = .init(body) }
            capture.add(record)
        }
        await capture.flush()
        say("\(round)")
    }
}

func watch() {
    let looks = Locked(0)
    let monitor = NetworkMonitor {
        // Called when the first facts are there: what changes from here on is told.
        let isFirst = looks.withLock { looks -> Bool in
            looks += 1
            return looks == 1
        }
        if isFirst { say("ready") }
        return []
    } onChange: {
        say("[\($0)]")
    }
    guard monitor.start() else { return say("not permitted") }
    var octet: UInt8 = 0
    while read(0, &octet, 1) > 0 {}
    monitor.stop()
}

func tellOwn(_ addresses: [String]) {
    for address in addresses {
        var octets = [UInt8](repeating: 0, count: 4)
        guard inet_pton(AF_INET, address, &octets) == 1 else { return say("no address", on: 2) }
        say("\(address) \(httpdns_address_is_own(octets, octets.count))")
    }
}

let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "keep" where words.count == 3: await keep(words[1], from: Int(words[2]) ?? 0)
case "capture" where words.count == 3:
    try await capture(words[1], from: Int(words[2]) ?? 0)
case "watch": watch()
case "sessions" where words.count == 3:
    try await Sessions(port: words[1], rootFile: words[2]).run()
case "responses" where words.count == 3:
    try await keepResponses(words[1], from: Int(words[2]) ?? 0)
case "large" where words.count == 4:
    try await LargeBody(port: words[1], rootFile: words[2], directory: words[3]).run()
case "storm" where words.count == 2:
    say("\(try await Storm().run(Int(words[1]) ?? 0))")
case "own": tellOwn(Array(words.dropFirst()))
default: say("usage: see the source", on: 2)
}
