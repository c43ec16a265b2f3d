// Plain DNS through this library: so many look-ups in flight, each of another name.
//
//     PlainBench PORT IN_FLIGHT LOOKUPS [WAY]            prints one line of JSON
//
// WAY is how a look-up is asked for:
//
//     callback    of the back-end, without a task, as the peers in C are asked
//     async       of the back-end, by so many tasks
//     resolver    of a resolver with that one back-end, by so many tasks: what applications do

import CBenchSupport
import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSWire

enum PlainFault: Error { case usage }

let arguments = CommandLine.arguments
guard (4...5).contains(arguments.count), let number = UInt16(arguments[1]),
    let port = Port(number), let flight = Int(arguments[2]), let total = Int(arguments[3]),
    flight > 0, total > 0
else {
    print("usage: PlainBench PORT IN_FLIGHT LOOKUPS [callback|async|resolver]")
    throw PlainFault.usage
}
let way = arguments.count > 4 ? arguments[4] : "callback"
let backend = DatagramBackend(
    servers: [Endpoint(address: try IPAddress("127.0.0.1"), port: port)])
let resolver = Resolver(sources: [backend])
let clock = SystemMonotonicClock()
let meter = Meter(total)

switch way {
case "callback":
    await withCheckedContinuation { continuation in
        CallbackRun(backend, meter, total, over: { continuation.resume() })
            .start(inFlight: flight)
    }
case "async":
    await inTasks { question, deadline in
        (try? await backend.ask(question, deadline: deadline)) != nil
    }
case "resolver":
    await inTasks { question, _ in (try? await resolver.lookup(question)) != nil }
default: throw PlainFault.usage
}
meter.report(way)

/// Asks until there is no name left, in as many tasks as may be in flight.
func inTasks(_ ask: @escaping @Sendable (Question, Monotonic) async -> Bool) async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<flight {
            group.addTask {
                while let question = meter.next() {
                    let begun = clock.now()
                    let isAnswered = await ask(question, begun.adding(seconds: 20))
                    meter.took(isAnswered ? clock.now().nanoseconds - begun.nanoseconds : nil)
                }
            }
        }
    }
}
