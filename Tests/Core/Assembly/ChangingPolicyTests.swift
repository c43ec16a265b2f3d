import HTTPDNS
import Testing

/// A policy that is replaced while a judge is built from the one before.
@Suite struct ChangingPolicyTests {
    private static func rule(_ octet: UInt8) throws -> PinRule {
        PinRule([try #require(Pin(sha256: [UInt8](repeating: octet, count: 32)))], backup: .waived)
    }

    private static func pins(_ octet: UInt8) throws -> PinSet {
        var pins = PinSet()
        try pins.add(rule(octet), for: HostPattern("api.example.test"))
        return pins
    }

    @Test func `an edit does not undo what was tightened while its judge was built`() throws {
        let policy = ChangingPolicy(TrustPolicy())
        let pins = try Self.pins(1)
        var built: [TrustPolicy] = []
        var published: [TrustPolicy] = []
        try policy.change {
            $0.pins = pins
        } build: { edited throws(SetupFault) in
            if built.isEmpty {
                try policy.change {
                    $0.minimumTLS = .tls13
                } build: { edited in
                    edited
                } publish: {
                    published.append($0)
                }
            }
            built.append(edited)
            return edited
        } publish: {
            published.append($0)
        }
        #expect(built.map(\.minimumTLS) == [TrustPolicy().minimumTLS, .tls13])
        #expect(published.count == 2)
        #expect(published.last == policy.current)
        #expect(policy.current.pins == pins)
        #expect(policy.current.minimumTLS == .tls13)
    }

    @Test func `a judge of roots that were read anew meanwhile is built again`() throws {
        let policy = ChangingPolicy(TrustPolicy())
        let pins = try Self.pins(1)
        var turns = 0
        try policy.change {
            $0.pins = pins
        } build: { _ throws(SetupFault) in
            turns += 1
            // The same policy, with other roots: the edit began with those of before.
            if turns == 1 { #expect(policy.renew(policy.edition) {}) }
        } publish: {
        }
        #expect(turns == 2)
    }

    @Test func `what was read for a policy that was replaced is not put to use`() throws {
        let policy = ChangingPolicy(TrustPolicy())
        let before = policy.edition
        try policy.change {
            $0.minimumTLS = .tls13
        } build: { _ in
        } publish: {
        }
        #expect(!policy.renew(before) { Issue.record("put to use") })
        var isDone = false
        #expect(policy.renew(policy.edition) { isDone = true })
        #expect(isDone)
    }

    @Test func `a policy that cannot be put to use leaves the old one`() throws {
        let policy = ChangingPolicy(TrustPolicy())
        let fault = SetupFault.trust(.unexpected("no"))
        #expect(throws: fault) {
            try policy.change {
                $0.minimumTLS = .tls13
            } build: { _ throws(SetupFault) in
                throw fault
            } publish: {
                Issue.record("put to use")
            }
        }
        #expect(policy.current == TrustPolicy())
    }
}
