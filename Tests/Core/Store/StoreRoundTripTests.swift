import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSStore
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct StoreRoundTripTests {
    static let other = WireName(text: "Other.Example.test") ?? .root

    static let records: [(RecordType, RecordData)] = [
        (.a, .address(IPAddress(family: .ipv4, high: 0, low: 0xCB00_7107))),
        (.aaaa, .address(IPAddress(family: .ipv6, high: 0x2001_0DB8_0000_0000, low: 7))),
        (.cname, .name(other)), (.ns, .name(other)), (.ptr, .name(other)),
        (
            .soa,
            .soa(
                StartOfAuthority(
                    primary: other, mailbox: other, serial: .max, refreshSeconds: 1,
                    retrySeconds: 2, expireSeconds: 3, minimumSeconds: 4))
        ),
        (.mx, .mx(preference: 10, exchange: other)),
        (.txt, .txt([[0, 255], [], Array("v=spf1".utf8)])),
        (.srv, .srv(priority: 1, weight: 2, port: 443, target: other)),
        (.caa, .caa(flags: 128, tag: Array("issue".utf8), value: Array("ca.test".utf8))),
        (
            .https,
            .service(
                ServiceBinding(
                    priority: 1, target: .root,
                    parameters: [.init(key: 1, value: [2, 0x68, 0x32])]))
        ),
        (.svcb, .service(ServiceBinding(priority: 0, target: other, parameters: []))),
        (RecordType(rawValue: 52), .opaque([3, 1, 1, 0xAB])),
    ]

    @Test(arguments: records.indices)
    func `each record type comes back equal after a restart`(index: Int) async throws {
        let lab = try StoreLab()
        let (type, data) = Self.records[index]
        let testimony = try answer(type: type, data: data)
        lab.open().keep(testimony, scope: "s", lifeSeconds: 300)
        // The first store is gone: its thread writes what it still holds.
        let found = await eventuallyFound(lab, testimony.question, scope: "s")
        #expect(found == StoredAnswer(testimony: testimony, secondsLeft: 300, secondsOver: 0))
        #expect(lab.reported == [])
    }

    @Test func `why a server answers so comes back`() async throws {
        let lab = try StoreLab()
        var testimony = try answer("reason.test")
        testimony.extendedErrors = [
            ExtendedError(code: 3, text: "old \u{1B}"), ExtendedError(code: 4_711),
        ]
        testimony.excessiveTTLSeconds = .max
        lab.open().keep(testimony, scope: "s", lifeSeconds: 300)
        let found = await eventuallyFound(lab, testimony.question, scope: "s")
        // What was sent as a TTL is for the moment of the answer alone.
        testimony.excessiveTTLSeconds = nil
        #expect(found?.testimony == testimony)
    }

    @Test func `all that a source says comes back`() async throws {
        let lab = try StoreLab()
        var source = Testimony.Source(
            resolver: "https://dns.example/dns-query", transport: .https,
            server: "[2001:db8::1]:443", clientAddress: try IPAddress("198.51.100.9"), tries: 3)
        source.server = "[2001:db8::1]:443"
        source.extra = #"{"line":"telecom","note":"ü"}"#
        for code in [ResponseCode.noSuchName, .noError, ResponseCode(rawValue: 16)] {
            let testimony = Testimony(
                question: try answer("\(code.rawValue).test").question, code: code, answers: [],
                negativeTTLSeconds: code == .noError ? nil : 17, isAuthenticData: true,
                source: source)
            let store = lab.open()
            store.keep(testimony, scope: "", lifeSeconds: 9)
            await store.flush()
            #expect(await lab.open().found(testimony.question)?.testimony == testimony)
        }
    }

    @Test func `questions that differ in anything have answers of their own`() async throws {
        let lab = try StoreLab()
        let store = lab.open()
        let block = try AddressBlock("198.51.100.0/24")
        let parameters = try ServiceParameters([("a", "1")])
        let all: [Testimony] = [
            try answer("a.test"), try answer("b.test"),
            try answer("a.test", type: .txt, data: .txt([[1]])),
            try answer("a.test") { $0.wantsDNSSEC = true },
            try answer("a.test") { $0.wantsRecursion = false },
            try answer("a.test") { $0.clientSubnet = block },
            try answer("a.test") { $0.serviceParameters = parameters },
        ]
        for (index, testimony) in all.enumerated() {
            let life = UInt32(100 + index)
            store.keep(testimony, scope: "", lifeSeconds: life)
            store.keep(testimony, scope: "other", lifeSeconds: life + 50)
        }
        await store.flush()
        let again = lab.open()
        for (index, testimony) in all.enumerated() {
            let left = UInt32(100 + index)
            #expect(await again.found(testimony.question)?.secondsLeft == left)
            #expect(await again.found(testimony.question, scope: "other")?.secondsLeft == left + 50)
            #expect(await again.found(testimony.question, scope: "third") == nil)
        }
    }

    @Test func `what has just been kept is found before it is written`() async throws {
        let lab = try StoreLab()
        let store = lab.open()
        let testimony = try answer()
        store.keep(testimony, scope: "", lifeSeconds: 5)
        #expect(await store.found(testimony.question)?.testimony == testimony)
    }

    @Test func `the later of two answers to one question counts`() async throws {
        let lab = try StoreLab()
        let store = lab.open()
        store.keep(try ProvenAnswers.testimony(1, round: 1), scope: "", lifeSeconds: 5)
        await store.flush()
        let later = try ProvenAnswers.testimony(1, round: 2)
        store.keep(later, scope: "", lifeSeconds: 7)
        await store.flush()
        #expect(await lab.open().found(later.question)?.testimony == later)
        #expect(await store.contents()?.answers == 1)
    }

    @Test func `an answer that would come back changed is not kept`() async throws {
        let lab = try StoreLab()
        let question = try answer().question
        let long = Testimony(
            question: question, code: .noError,
            answers: [
                ResourceRecord(
                    name: WireName(question.name), type: .a, ttlSeconds: .max,
                    data: .address(try IPAddress("203.0.113.7")))
            ], source: Testimony.Source(resolver: "x", transport: .udp))
        let store = lab.open()
        store.keep(long, scope: "", lifeSeconds: 5)
        await store.flush()
        #expect(await lab.open().found(question) == nil)
    }

    @Test func `nothing is left after everything was removed`() async throws {
        let lab = try StoreLab()
        let store = lab.open()
        let kept = try ProvenAnswers.testimony(1, round: 1)
        let waiting = try ProvenAnswers.testimony(2, round: 1)
        store.keep(kept, scope: "", lifeSeconds: 50)
        await store.flush()
        store.keep(waiting, scope: "", lifeSeconds: 50)
        store.removeAll()
        #expect(await store.found(kept.question) == nil)
        #expect(await store.found(waiting.question) == nil)
        #expect(await store.contents() == StoreContents(answers: 0, octets: 0))
        for suffix in ["", "-wal"] {
            let octets = (try? contents(of: lab.path + suffix)) ?? ""
            #expect(!octets.contains("proven-"))
        }
    }

    @Test func `a scope that is too long is neither kept nor found`() async throws {
        let store = try StoreLab().open()
        let testimony = try answer()
        let scope = String(repeating: "x", count: 5_000)
        store.keep(testimony, scope: scope, lifeSeconds: 5)
        #expect(await store.found(testimony.question, scope: scope) == nil)
    }

    /// Opens the file anew until the answer is there.
    private func eventuallyFound(
        _ lab: StoreLab, _ question: Question, scope: String
    ) async -> StoredAnswer? {
        _ = await eventually { await lab.open().found(question, scope: scope) != nil }
        return await lab.open().found(question, scope: scope)
    }
}
