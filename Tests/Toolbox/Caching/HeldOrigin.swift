import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport

/// An origin that holds what it is asked until the test lets it go, and counts.
final class HeldOrigin: Sendable {
    /// Which requests are held, by their number.
    enum Held: Sendable {
        case all
        case first
        case butFirst
        case only(Set<Int>)

        fileprivate func has(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .first: number == 1
            case .butFirst: number > 1
            case .only(let numbers): numbers.contains(number)
            }
        }
    }

    let server: LabServer
    let calls: BlockedCalls
    private let release: ReleaseAtEnd

    /// - Parameter answer: is given the number of the request, from 1.
    init(
        _ lab: CachingLab, holding held: Held = .all,
        _ answer: @escaping @Sendable (LabRequest, Int) -> LabResponse
    ) throws {
        let (calls, count) = (BlockedCalls(), Locked(0))
        server = try lab.origin { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if held.has(number) { calls.block() }
            return answer(request, number)
        }
        self.calls = calls
        release = ReleaseAtEnd(calls)
    }

    func stop() {
        calls.release()
        server.stop()
    }
}
