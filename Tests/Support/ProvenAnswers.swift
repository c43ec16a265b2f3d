package import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSWire

/// Answers that can be told from a wrong one by themselves: each address follows from the name's
/// number and the round, and the round stands in the first.
package enum ProvenAnswers {
    package static func question(_ number: Int) throws -> Question {
        Question(name: try HostName("proven-\(number).example.test"), type: .a)
    }

    package static func testimony(_ number: Int, round: Int) throws -> Testimony {
        let question = try question(number)
        let addresses = (0..<6).map { place -> IPAddress? in
            let mixed = UInt32(truncatingIfNeeded: number &* 40_503 &+ round &* 9_973 &+ place)
            let first = UInt32(truncatingIfNeeded: round)
            let word = place == 0 ? first : mixed &* 2_654_435_761
            return IPAddress(
                octets: stride(from: 24, through: 0, by: -8).map {
                    UInt8(truncatingIfNeeded: word >> UInt32($0))
                })
        }
        return Testimony(
            question: question, code: .noError,
            answers: addresses.compactMap { $0 }.map {
                ResourceRecord(
                    name: WireName(question.name), type: .a, ttlSeconds: 300, data: .address($0))
            },
            source: Testimony.Source(resolver: "round-\(round)", transport: .udp))
    }

    /// True when the answer is one that was made here for its own question.
    package static func isProven(_ testimony: Testimony, number: Int) -> Bool {
        guard let round = Int(testimony.source.resolver.dropFirst("round-".count)) else {
            return false
        }
        return (try? self.testimony(number, round: round)) == testimony
    }
}

/// A clock of a boot that shows what it was set to.
package final class FakeBootClock: BootSource {
    private let state: Locked<(milliseconds: Int64, bootID: String)>

    package init(milliseconds: Int64, bootID: String) { state = Locked((milliseconds, bootID)) }

    package func millisecondsSinceBoot() -> Int64 { state.withLock { $0.milliseconds } }
    package var bootID: String { state.withLock { $0.bootID } }

    package func advance(milliseconds: Int64) { state.withLock { $0.milliseconds += milliseconds } }

    /// Another boot, so long after its start.
    package func reboot(milliseconds: Int64, bootID: String) {
        state.withLock { $0 = (milliseconds, bootID) }
    }
}

extension AnswerStore {
    /// `find`, awaited.
    package func found(_ question: Question, scope: String = "") async -> StoredAnswer? {
        await withCheckedContinuation { continuation in
            find(question, scope: scope) { continuation.resume(returning: $0) }
        }
    }
}
