import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire
import TestSupport
import Testing

/// What every back-end keeps: the contract of `Sources/Lookup/ResolverBackend.swift`.
///
/// A new back-end joins by an entry in ``subjects``.
@Suite struct BackendContractTests {
    static let subjects: [ContractSubject] =
        datagramSubjects + localSubjects + httpSubjects + streamSubjects

    @Test(arguments: subjects)
    func `addresses of each family arrive in order`(subject: ContractSubject) async throws {
        let opened = try subject.open()
        for (type, texts) in [(RecordType.a, ContractZone.ipv4), (.aaaa, ContractZone.ipv6)] {
            let testimony = try await opened.asked("ok", type)
            #expect(testimony.code == .noError)
            #expect(
                testimony.answers.map { $0.data }
                    == texts.compactMap { try? IPAddress($0) }.map { .address($0) })
            #expect(testimony.answers.allSatisfy { $0.type == type })
            #expect(testimony.question.type == type)
            #expect(testimony.source.resolver == opened.label)
            #expect(testimony.source.tries >= 1)
            guard subject.abilities.contains(.ttl) else { continue }
            #expect(
                testimony.answers.allSatisfy { $0.ttlSeconds == ContractZone.addressTTLSeconds })
        }
    }

    @Test(arguments: subjects.having(.aliases))
    func `an alias arrives before its addresses`(subject: ContractSubject) async throws {
        let testimony = try await subject.open().asked("alias", .a)
        #expect(testimony.answers.map { $0.type } == [.cname, .a, .a])
        #expect(testimony.answers.first?.ttlSeconds == ContractZone.aliasTTLSeconds)
        #expect(testimony.answers.last?.name == (try wireName("ok")))
    }

    @Test(arguments: subjects.having(.noSuchName))
    func `no such name is a testimony`(subject: ContractSubject) async throws {
        let testimony = try await subject.open().asked("nx", .a)
        #expect(testimony.code == .noSuchName)
        #expect(testimony.answers.isEmpty)
        #expect(testimony.negativeTTLSeconds == expectedNegativeTTL(subject))
    }

    @Test(arguments: subjects)
    func `no data is a testimony without an error code`(subject: ContractSubject) async throws {
        let testimony = try await subject.open().asked("nodata", .aaaa)
        #expect(testimony.code == .noError)
        #expect(testimony.answers.isEmpty)
        #expect(testimony.negativeTTLSeconds == expectedNegativeTTL(subject))
    }

    @Test(arguments: subjects.having(.responseCodes))
    func `the server's own failure is a testimony`(subject: ContractSubject) async throws {
        let opened = try subject.open()
        for (label, code) in [("servfail", ResponseCode.serverFailure), ("refused", .refused)] {
            let testimony = try await opened.asked(label, .a)
            #expect(testimony.code == code)
            #expect(testimony.answers.isEmpty)
            #expect(testimony.negativeTTLSeconds == nil)
        }
    }

    @Test(arguments: subjects.having(.silence))
    func `silence ends at the deadline`(subject: ContractSubject) async throws {
        let opened = try subject.open()
        let clock = SystemMonotonicClock()
        let deadline = clock.now().adding(milliseconds: 200)
        let failure = await opened.failure("silent", .a, deadline: deadline)
        guard case .timedOut = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(clock.now() >= deadline)
        // A busy machine may be late by seconds, but not by half a minute.
        #expect(clock.now().milliseconds(since: deadline) < 30_000)
    }

    @Test(arguments: subjects.having(.silence))
    func `a deadline in the past is refused at once`(subject: ContractSubject) async throws {
        let opened = try subject.open()
        let past = SystemMonotonicClock().now()
        guard case .timedOut = await opened.failure("ok", .a, deadline: past) else {
            Issue.record("not timed out")
            return
        }
    }

    @Test(arguments: subjects.having(.silence))
    func `cancellation is prompt`(subject: ContractSubject) async throws {
        let opened = try subject.open()
        let clock = SystemMonotonicClock()
        let tasks = (0..<20).map { _ in
            Task { await opened.failure("silent", .a) }
        }
        // An answered question shows that the back-end is at work.
        _ = try? await opened.ask(
            Question(name: try HostName("ok.contract.test"), type: .a),
            deadline: clock.now().adding(milliseconds: 100))
        let begun = clock.now()
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == .cancelled) }
        // Far below any time-out of the back-ends, far above the delays of a busy machine.
        #expect(clock.now().milliseconds(since: begun) < 30_000)
    }

    @Test(arguments: subjects)
    func `two hundred questions at once get their own answers`(
        subject: ContractSubject
    ) async throws {
        let opened = try subject.open()
        try await withThrowingTaskGroup(of: (Int, [RecordData]).self) { group in
            for number in 0..<200 {
                group.addTask {
                    (
                        number,
                        try await opened.asked("many-\(number)", .a).answers.map { $0.data }
                    )
                }
            }
            for try await (number, data) in group {
                #expect(data == [.address(try IPAddress("198.51.0.\(number)"))])
            }
        }
    }

    @Test(arguments: subjects.having(.octets))
    func `hostile octets end in an error, never in an answer`(
        subject: ContractSubject
    ) async throws {
        let opened = try subject.open()
        for kind in 0..<ContractZone.hostileKinds {
            let deadline = SystemMonotonicClock().now().adding(milliseconds: 300)
            let failure = await opened.failure("hostile-\(kind)", .a, deadline: deadline)
            #expect(failure != nil, "hostile reply \(kind)")
        }
        #expect(try await opened.asked("ok", .a).answers.count == 2)
    }

    @Test(arguments: subjects)
    func `a type that it cannot ask for is refused as such`(
        subject: ContractSubject
    ) async throws {
        let opened = try subject.open()
        guard let types = opened.supportedTypes else { return }
        #expect(!types.isEmpty)
        let other = RecordType(rawValue: 65_280)
        #expect(!types.contains(other))
        #expect(await opened.failure("ok", other) == .unsupportedType(other))
    }

    private func expectedNegativeTTL(_ subject: ContractSubject) -> UInt32? {
        // A table's "no data" stands for as long as its addresses do.
        if subject.testDescription == "table" { return ContractZone.addressTTLSeconds }
        return subject.abilities.contains(.negativeTTL) ? ContractZone.negativeTTLSeconds : nil
    }

    private func wireName(_ label: String) throws -> WireName {
        WireName(try HostName("\(label).\(ContractZone.suffix)"))
    }
}

extension [ContractSubject] {
    func having(_ ability: ContractSubject.Ability) -> [ContractSubject] {
        filter { $0.abilities.contains(ability) }
    }
}
