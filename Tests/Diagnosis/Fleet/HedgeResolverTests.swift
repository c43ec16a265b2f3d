import HTTPDNS
import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSResolution
import HTTPDNSTransport
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// The resolver that applications use, over real servers of which one falls silent.
@Suite(.timeLimit(.minutes(3))) struct HedgeResolverTests {
    enum Form: Sendable, CaseIterable {
        case datagram, doh
    }

    /// A server that knows every name, until it is frozen: then it takes questions and is silent.
    private final class Front: Sendable {
        static let address = LabAddress.ipv4(host: 41)
        let backend: any ResolverBackend
        private let datagrams: LabDNSServer?
        private let service: LabServer?
        private let isFrozen: Locked<Bool>
        /// Its service says that it is out of order.
        private let isRefusing = Locked(false)

        init(_ form: Form, _ authority: TestAuthority) throws {
            let isFrozen = Locked(false)
            self.isFrozen = isFrozen
            let isRefusing = isRefusing
            switch form {
            case .datagram:
                let server = try LabDNSServer { $0.answer([Front.address]) }
                try server.start()
                datagrams = server
                service = nil
                backend = DatagramBackend(servers: [try Endpoint(text: server.endpoint)], tries: 1)
            case .doh:
                let identity = try authority.leaf([.address(LabAddress.ipv4)])
                let server = try LabServer(security: .tls(identity)) { request in
                    if isRefusing.withLock({ $0 }) { return .text("down", status: 503) }
                    return isFrozen.withLock { $0 } ? .never : Front.answer(request.body)
                }
                try server.start()
                datagrams = nil
                service = server
                var description = try ResolverDescription(
                    "https://\(LabAddress.ipv4):\(server.port)/dns-query")
                description.usesPOST = true
                backend = try ResolverFactory(
                    trust: TrustPolicy(roots: .pem(authority.certificatePEM)),
                    transport: Transport()
                ).backend(for: description)
            }
        }

        deinit {
            datagrams?.stop()
            service?.stop()
        }

        func freeze(_ isOn: Bool) throws {
            isFrozen.withLock { $0 = isOn }
            try datagrams?.behave(isOn ? .dead : .healthy)
        }

        func refuse(_ isOn: Bool) { isRefusing.withLock { $0 = isOn } }

        private static func answer(_ query: [UInt8]) -> LabResponse {
            guard let query = try? Message(decoding: query), let asked = query.questions.first
            else { return .text("?", status: 400) }
            var reply = Message(id: query.id, questions: [asked])
            reply.flags.isResponse = true
            reply.answers = [
                ResourceRecord(
                    name: asked.name, type: .a, ttlSeconds: 60, data: .address(Front.address))
            ]
            return LabResponse(
                fields: [LabField("Content-Type", "application/dns-message")],
                body: (try? reply.encode()) ?? [])
        }
    }

    /// What a resolver told of its sources.
    private final class Story: Sendable {
        private let events = Locked<[ResolverEvent]>([])

        func note(_ event: ResolverEvent) { events.withLock { $0.append(event) } }

        func count(_ wanted: (ResolverEvent) -> Bool) -> Int {
            events.withLock { $0.count(where: wanted) }
        }

        /// Look-ups that ended without an address.
        var lost: Int {
            count { if case .ended(_, let ending, _) = $0 { ending != .records } else { false } }
        }

        var longestMilliseconds: Int64 {
            events.withLock { events in
                events.map { if case .ended(_, _, let took) = $0 { took } else { 0 } }.max() ?? 0
            }
        }

        func broke(_ label: String) -> Int {
            count { if case .broke(label, _) = $0 { true } else { false } }
        }

        /// Questions to a source since it was benched, and how many of them were probes.
        func asked(_ label: String) -> (all: Int, probes: Int) {
            events.withLock { events in
                let start =
                    events.firstIndex { if case .broke(label, _) = $0 { true } else { false } }
                let later = events[(start ?? events.endIndex)...]
                return (
                    later.count { if case .asked(_, label) = $0 { true } else { false } },
                    later.count { if case .probed(label) = $0 { true } else { false } }
                )
            }
        }
    }

    private static func resolver(
        _ fronts: [Front], _ strategy: LookupStrategy, _ story: Story
    ) -> Resolver {
        var options = ResolverOptions()
        options.strategy = strategy
        options.observer = { story.note($0) }
        return Resolver(sources: fronts.map(\.backend), options: options)
    }

    private static func look(
        _ resolver: Resolver, _ label: String, patience: Duration = .seconds(100)
    ) async throws -> [IPAddress] {
        let question = Question(name: try HostName(label + ".shop.test"), type: .a)
        return try await resolver.lookup(question, patience: patience).addresses
    }

    @Test(arguments: Form.allCases)
    func
        `one of two that falls silent costs three late look-ups, none of them lost, and comes back`(
            form: Form
        ) async throws
    {
        let authority = try TestAuthority("Fleet Root")
        let fronts = [try Front(form, authority), try Front(form, authority)]
        let story = Story()
        let resolver = Self.resolver(fronts, .hedged(after: nil), story)
        for number in 0..<10 {
            #expect(try await Self.look(resolver, "well\(number)") == [Front.address])
        }
        let label = fronts[0].backend.label
        #expect(story.broke(label) == 0)
        try fronts[0].freeze(true)
        for number in 0..<12 {
            #expect(try await Self.look(resolver, "frozen\(number)") == [Front.address])
        }
        // Learnt from what its rival won, without one failed look-up.
        #expect(story.broke(label) >= 1)
        let since = story.asked(label)
        #expect(since.all == since.probes)
        try fronts[0].freeze(false)
        var number = 0
        while story.count({ $0 == .restored(source: label) }) == 0 {
            number += 1
            #expect(try await Self.look(resolver, "back\(number)") == [Front.address])
        }
        #expect(story.lost == 0)
    }

    @Test func `a look-up that tries a silent service waits for no hedge delay`() async throws {
        let authority = try TestAuthority("Fleet Root")
        let fronts = [try Front(.doh, authority), try Front(.doh, authority)]
        let story = Story()
        // Longer than a look-up lasts: whoever waits for it waits for half of its patience.
        let resolver = Self.resolver(fronts, .hedged(after: .seconds(1_000)), story)
        let label = fronts[0].backend.label
        fronts[0].refuse(true)
        for number in 0..<SourceHealth.failureLimit {
            #expect(try await Self.look(resolver, "refused\(number)") == [Front.address])
        }
        #expect(story.broke(label) == 1)
        try fronts[0].freeze(true)
        fronts[0].refuse(false)
        var number = 0
        while story.asked(label).probes == 0 {
            number += 1
            #expect(try await Self.look(resolver, "silent\(number)") == [Front.address])
        }
        #expect(story.longestMilliseconds < 50_000)
        try fronts[0].freeze(false)
        while story.count({ $0 == .restored(source: label) }) == 0 {
            number += 1
            #expect(try await Self.look(resolver, "back\(number)") == [Front.address])
        }
        #expect(story.lost == 0)
    }

    @Test func `of many look-ups at once none is lost while a server falls silent`() async throws {
        let authority = try TestAuthority("Fleet Root")
        let fronts = [try Front(.datagram, authority), try Front(.datagram, authority)]
        let story = Story()
        let resolver = Self.resolver(fronts, .hedged(after: nil), story)
        let lost = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                if number == 100 { try fronts[0].freeze(true) }
                group.addTask {
                    try await Self.look(resolver, "n\(number)") != [Front.address]
                }
                if number % 10 == 9 { _ = try await group.next() }
            }
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(lost == 0)
        #expect(story.lost == 0)
    }

    @Test func `callers in a hurry tell nothing about a source, which its own silence does`()
        async throws
    {
        let authority = try TestAuthority("Fleet Root")
        let fronts = [try Front(.datagram, authority), try Front(.datagram, authority)]
        let story = Story()
        let resolver = Self.resolver(fronts, .ordered, story)
        #expect(try await Self.look(resolver, "well") == [Front.address])
        let label = fronts[0].backend.label
        try fronts[0].freeze(true)
        // It is judged when its own time is over, though each look-up has ended long before.
        var number = 0
        while story.broke(label) == 0 {
            number += 1
            // The answer is there, or the caller has gone: on a busy machine either.
            _ = try? await Self.look(resolver, "hurry\(number)", patience: .milliseconds(800))
        }
        #expect(story.count { if case .answered(_, label, _) = $0 { true } else { false } } == 1)
    }
}
