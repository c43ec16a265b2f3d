import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSStore
import HTTPDNSWire
import TestSupport

/// A store in a directory of its own, with clocks that the test sets.
final class StoreLab: Sendable {
    let directory: TemporaryDirectory
    let path: String
    let wall = FakeWallClock(WallTime(secondsSince1970: 1_800_000_000))
    let boot = FakeBootClock(milliseconds: 50_000, bootID: "first")
    let clock = FakeClock()
    let events = Locked<[StoreEvent]>([])

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/inner/answers.db"
    }

    func open(limits: StoreLimits = StoreLimits(), at other: String? = nil) -> SQLiteAnswerStore {
        SQLiteAnswerStore(
            path: other ?? path, limits: limits, wall: wall, boot: boot, monotonic: clock
        ) { [events] event in
            events.withLock { $0.append(event) }
        }
    }

    var reported: [StoreEvent] { events.withLock { $0 } }
}

/// An answer with one record, to `name`.
func answer(
    _ name: String = "host.example.test", type: RecordType = .a, data: RecordData? = nil,
    change: (inout Question) -> Void = { _ in }
) throws -> Testimony {
    var question = Question(name: try HostName(name), type: type)
    change(&question)
    let data = try data ?? .address(IPAddress("203.0.113.7"))
    return Testimony(
        question: question, code: .noError,
        answers: [
            ResourceRecord(
                name: WireName(question.name), type: type, ttlSeconds: 300, data: data)
        ], source: Testimony.Source(resolver: "udp://192.0.2.1:53", transport: .udp))
}
