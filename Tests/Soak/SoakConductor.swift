import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution

/// Changes what can change while lookups run: servers, networks, hot names, resolvers that come and go.
final class SoakConductor: Sendable {
    private let servers: SoakServers
    private let worlds: [SoakWorld]
    private let ledger: Ledger
    private let numbers: Locked<SeededNumbers>
    private let passing = Locked<[Passing]>([])

    /// A resolver that is dropped while it works, and one who reads its events.
    private struct Passing: Sendable {
        weak var resolver: Resolver?
        let reader: Ticket
    }

    init(_ servers: SoakServers, _ worlds: [SoakWorld], ledger: Ledger, seed: UInt64) {
        self.servers = servers
        self.worlds = worlds
        self.ledger = ledger
        numbers = Locked(SeededNumbers(seed: seed &+ 1))
    }

    /// Every fifth of a second or so.
    func tick() {
        var numbers = self.numbers.withLock { numbers in
            defer { _ = numbers.next() }
            return numbers
        }
        servers.laboratory.forget()
        if numbers.isIn(50) { servers.laboratory.change(numbers.next()) }
        let world = worlds[numbers.below(worlds.count)]
        if numbers.isIn(4) {
            let networks: [String?] = ["home", "office", nil]
            world.resolver.networkDidChange(networks[numbers.below(networks.count)])
            ledger.note("network changes")
        }
        if numbers.isIn(5) {
            let first = numbers.below(100)
            world.resolver.keepHot(Set(SoakZone.hosts[first..<first + 10]))
        }
        if numbers.isIn(5) {
            world.resolver.removeCachedAnswers(for: SoakZone.hosts[numbers.below(50)])
        }
        if numbers.isIn(2) { world.resolver.removeCachedAnswers() }
        if numbers.isIn(20) { pass(&numbers) }
    }

    /// A resolver that nobody keeps: its caller must be told all the same, and its reader end.
    private func pass(_ numbers: inout SeededNumbers) {
        let resolver = Resolver(sources: [servers.datagram(0), servers.datagram(1)])
        let host = SoakZone.hosts[numbers.below(100)]
        let caller = ledger.begin(
            "passing resolver, \(host)", patienceMilliseconds: 1_000)
        resolver.resolve(.name(host), patience: .milliseconds(1_000)) { result in
            caller.told("passing")
        }
        resolver.keepHot([SoakZone.hosts[numbers.below(20)]])
        // The second time from the cache: told at once, while the asking is still being set up.
        Task { [weak resolver] in
            for _ in 0..<2 { _ = try? await resolver?.resolve(.name(host)) }
        }
        let reader = ledger.begin(
            "reader of a passing resolver", patienceMilliseconds: 10_000)
        let events = resolver.eventStream
        Task {
            for await _ in events {}
            reader.told("reader ended")
        }
        passing.withLock { passing in
            passing.removeAll { $0.resolver == nil }
            passing.append(Passing(resolver: resolver, reader: reader))
        }
    }

    /// The servers are well again, and nothing is asked for by itself.
    func calm() {
        servers.laboratory.heal()
        for world in worlds { world.resolver.keepHot([]) }
    }

    /// Why it is not quiet yet; nil when nothing runs any longer.
    var unrest: String? {
        if let busy = worlds.first(where: { !$0.resolver.isIdle }) {
            return "the resolver of \(busy.name) still asks"
        }
        let living = passing.withLock { $0.filter { $0.resolver != nil }.count }
        return living == 0 ? nil : "\(living) resolvers live though nobody keeps them"
    }
}
