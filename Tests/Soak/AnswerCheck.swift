import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire

/// Judges what a waiter was told by what the zone says.
struct AnswerCheck: Sendable {
    let ledger: Ledger
    let start: Monotonic
    let proven: Set<String>
    private let clock = SystemMonotonicClock()

    init(ledger: Ledger, start: Monotonic, proven: Set<String>) {
        self.ledger = ledger
        self.start = start
        self.proven = proven
    }

    func check(_ answer: LookupAnswer, of question: Question, in world: SoakWorld) {
        let testimony = answer.testimony
        if testimony.question.name != question.name || testimony.question.type != question.type {
            ledger.fault("\(world.name): \(question.name) was told \(testimony.question.name)")
        }
        let isProven = proven.contains(testimony.source.resolver)
        check(
            answer.addresses, of: question.name, isStale: answer.isStale, in: world,
            isProven: isProven)
        let family: IPAddress.Family = question.type == .a ? .ipv4 : .ipv6
        guard isProven, question.type == .a || question.type == .aaaa,
            let number = SoakZone.number(of: question.name.text)
        else { return }
        let truth = SoakZone.address(number, family)
        let isRight: Bool
        switch answer.outcome {
        case .records: isRight = answer.addresses == [truth].compactMap { $0 }
        case .noData: isRight = truth == nil && SoakZone.exists(number)
        case .noSuchName: isRight = !SoakZone.exists(number)
        case .serverFailure: isRight = true
        }
        if !isRight {
            ledger.fault(
                "\(world.name): \(testimony.source.resolver) proved itself, and \(question.name) "
                    + "\(question.type.name) is \(answer.outcome) \(answer.addresses)")
        }
    }

    func check(
        _ addresses: some Sequence<IPAddress>, of name: HostName, isStale: Bool,
        in world: SoakWorld, isProven: Bool = false
    ) {
        let number = SoakZone.number(of: name.text)
        for address in addresses {
            if let tenths = SoakZone.tenths(address) {
                checkAge(tenths, of: name, number ?? 0, isStale: isStale, in: world)
            } else if SoakZone.lies.contains(address) {
                checkLie(address, of: name, in: world, isProven: isProven)
            } else if name.text == SoakZone.canary {
                if address != SoakZone.canaryAddress {
                    ledger.fault("\(world.name): the canary was told \(address)")
                }
            } else if number.flatMap({ SoakZone.address($0, address.family) }) != address {
                ledger.fault("\(world.name): \(name) was told \(address)")
            }
        }
    }

    private func checkAge(
        _ tenths: Int64, of name: HostName, _ number: Int, isStale: Bool, in world: SoakWorld
    ) {
        let age = clock.now().milliseconds(since: start) - tenths * 100
        let life = Int64(SoakZone.lifeSeconds(number)) * 1_000
        let allowed = life + (isStale ? world.staleMilliseconds : 0) + AnswerCheck.slackMilliseconds
        guard age > allowed else { return }
        ledger.fault(
            "\(world.name): \(name) was told an answer of \(age) ms, "
                + "\(isStale ? "stale" : "fresh"), whose life is \(life) ms")
    }

    private func checkLie(
        _ address: IPAddress, of name: HostName, in world: SoakWorld, isProven: Bool
    ) {
        if isProven { ledger.fault("\(world.name): a proven source lied about \(name)") }
        guard let watch = world.watch else { return ledger.note("lies told, plain sources") }
        let type: RecordType = address.family == .ipv4 ? .a : .aaaa
        if watch.mayLie(Question(name: name, type: type)) {
            ledger.note("lies told, window over")
        } else {
            ledger.fault("\(world.name): a lie about \(name) won inside the window")
        }
    }

    /// How much older than its life an answer may be when it is told.
    ///
    /// Because: it is stamped before the slowest server delays it by 1.9 s, lives from when it
    /// arrives, in whole seconds, and is then told by threads that others keep waiting.
    static let slackMilliseconds: Int64 = 1_900 + 1_000 + 600
}
