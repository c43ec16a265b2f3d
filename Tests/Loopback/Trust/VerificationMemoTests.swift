import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import TestSupport
import Testing

/// Each test counts examinations: a memo that is too generous examines too little.
@Suite struct VerificationMemoTests {
    private let root: Minted
    private let intermediate: Minted
    private let leaf: Minted
    private let host: Host
    private let memo = VerificationMemo()

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        intermediate = try Recipe.authority("Test Intermediate").minted(by: root)
        leaf = try Recipe.leaf("api.example.com").minted(by: intermediate)
        host = .name(try HostName("api.example.com"))
    }

    private func verifier(
        clock: any WallSource = SystemWallClock(),
        adjust: (inout TrustPolicy) throws -> Void = { _ in }
    ) throws -> OpenSSLVerifier {
        var policy = TrustPolicy(roots: .pem(root.pem))
        try adjust(&policy)
        return try OpenSSLVerifier(policy: policy, clock: clock, memo: memo)
    }

    /// How many examinations `body` caused.
    private func examinations(_ body: () throws -> Void) rethrows -> UInt64 {
        let before = memo.counts.examined
        try body()
        return memo.counts.examined - before
    }

    private func accept(
        _ verifier: OpenSSLVerifier, _ chain: [Minted]? = nil, as host: Host? = nil
    ) throws {
        let handshake = try Handshake(
            verifier, host: host ?? self.host, sending: chain ?? [leaf, intermediate])
        _ = try handshake.verdict().get()
        #expect(handshake.isComplete)
    }

    @Test func `the same certificates for the same host are examined once`() throws {
        let verifier = try verifier()
        #expect(try examinations { try accept(verifier) } == 1)
        #expect(try examinations { for _ in 0..<3 { try accept(verifier) } } == 0)
        #expect(memo.counts.found == 3)
    }

    @Test func `the same certificates without a handshake are the same`() throws {
        let verifier = try verifier()
        let parsed = try [leaf.parsed(), intermediate.parsed()]
        try accept(verifier)
        let again = try examinations {
            _ = try verifier.verify(
                leaf: parsed[0], intermediates: [parsed[1]], host: host,
                at: SystemWallClock().now())
        }
        #expect(again == 0)
    }

    @Test func `another leaf is examined, even with the same names, key and issuer`() throws {
        let verifier = try verifier()
        try accept(verifier)
        let twin = try Recipe.leaf("api.example.com").minted(by: intermediate, keyOf: leaf)
        #expect(try examinations { try accept(verifier, [twin, intermediate]) } == 1)
    }

    @Test func `another certificate sent along is examined, and so is one left out`() throws {
        let verifier = try verifier()
        try accept(verifier)
        let stray = try Recipe.authority("Stray").minted()
        #expect(try examinations { try accept(verifier, [leaf, intermediate, stray]) } == 1)
        #expect(try examinations { try accept(verifier, [leaf, stray, intermediate]) } == 1)
        let refused = try Handshake(verifier, host: host, sending: [leaf])
        #expect(try refused.failure()?.code == .unknownIssuer)
    }

    @Test func `another host is examined, and refused`() throws {
        let verifier = try verifier()
        try accept(verifier)
        let refused = try Handshake(
            verifier, host: .name(try HostName("www.example.com")), sending: [leaf, intermediate])
        #expect(try refused.failure()?.code == .wrongName)
    }

    @Test func `another policy is examined, in every part of it`() throws {
        try accept(verifier())
        let pin = try leaf.pin()
        let list = try StatusMint.list(by: intermediate)
        let directory = try TemporaryDirectory()
        let file = try directory.write("list.pem", list)
        let changes: [(inout TrustPolicy) throws -> Void] = [
            { try $0.pins.add([pin], for: "**.example.com", backup: .waived) },
            { $0.profile = .publicWeb },
            { $0.minimumTLS = .tls13 },
            { $0.revocation.mode = .off },
            { $0.revocation.lists = [.pem(list)] },
            { $0.revocation.lists = [.file(file)] },
            { $0.transparency.mode = .report },
            { [root] in $0.rootsByHost = [try HostPattern("x.example"): .pem(root.pem)] },
            {
                try $0.dangerous.accept(
                    .matchesCommonName, for: try HostPattern("x.example"), because: "a test")
            },
        ]
        for change in changes {
            let changed = try verifier(adjust: change)
            #expect(try examinations { try accept(changed) } == 1)
            #expect(try examinations { try accept(changed) } == 0)
        }
        // The same path, another content.
        try directory.write("list.pem", try StatusMint.list(by: intermediate, naming: leaf))
        let refused = try Handshake(
            verifier { $0.revocation.lists = [.file(file)] }, host: host,
            sending: [leaf, intermediate])
        #expect(try refused.failure()?.code == .revoked)
    }

    @Test func `roots that were read again are examined with, under the same policy`() throws {
        // The text says all about the roots, so that the policy stays the same.
        let first = try verifier()
        try accept(first)
        let kept = try verifier()
        #expect(try examinations { try accept(kept) } == 0)
        let directory = try TemporaryDirectory()
        let path = try directory.write("roots.pem", root.pem)
        let read = { try verifier { $0.roots = .file(path) } }
        do {
            let verifier = try read()
            #expect(try examinations { try accept(verifier) } == 1)
        }
        try directory.write("roots.pem", Recipe.authority("Another Root").minted().pem)
        let refused = try Handshake(read(), host: host, sending: [leaf, intermediate])
        #expect(try refused.failure()?.code == .unknownIssuer)
    }

    @Test func `a failure is found out anew each time`() throws {
        let verifier = try verifier()
        let other = Host.name(try HostName("www.example.com"))
        let count = try examinations {
            for _ in 0..<3 {
                let refused = try Handshake(
                    verifier, host: other, sending: [leaf, intermediate])
                let code = try refused.failure()?.code
                #expect(code == .wrongName)
            }
        }
        #expect(count == 3)
        #expect(memo.count == 0)
    }

    @Test func `what is known ends with the first certificate, and does not begin earlier`() throws
    {
        let clock = SetWallClock()
        let verifier = try verifier(clock: clock)
        try accept(verifier)
        clock.set(secondsFromNow: 3_000)
        #expect(try examinations { try accept(verifier) } == 0)
        clock.set(secondsFromNow: -60)
        #expect(try examinations { try accept(verifier) } == 1)
        clock.set(secondsFromNow: 3_700)
        let late = try Handshake(verifier, host: host, sending: [leaf, intermediate])
        #expect(try late.failure()?.code == .expired)
    }

    @Test func `what is known ends with the revocation list that spoke of it`() throws {
        let clock = SetWallClock()
        let list = try StatusMint.list(by: intermediate, to: 600)
        let verifier = try verifier(clock: clock) {
            $0.revocation = RevocationPolicy(.required, lists: [.pem(list)])
        }
        try accept(verifier)
        #expect(try examinations { try accept(verifier) } == 0)
        clock.set(secondsFromNow: 700)
        let late = try Handshake(verifier, host: host, sending: [leaf, intermediate])
        #expect(try late.failure()?.code == .revocationUnknown)
    }

    @Test func `a staple is judged in each handshake, known certificates or not`() throws {
        let verifier = try verifier()
        let good = try StatusMint.Staple.good.minted(about: leaf, of: intermediate)
        let revoked = try StatusMint.Staple.revoked.minted(about: leaf, of: intermediate)
        let code = { (staple: [UInt8]) in
            try Handshake(verifier, host: host, sending: [leaf, intermediate]) {
                _ = httpdns_lab_context_staple($0, staple, staple.count)
            }.failure()?.code
        }
        #expect(try code(good) == nil)
        #expect(try code(good) == nil)
        #expect(try code(revoked) == .revoked)
        #expect(memo.counts.examined == 1)
    }

    @Test func `a full memo forgets what nobody asks for, and grows no further`() throws {
        let small = VerificationMemo(capacity: 2)
        let verifier = try OpenSSLVerifier(
            policy: TrustPolicy(roots: .pem(root.pem)), memo: small)
        let others = try (0..<3).map { _ in
            try Recipe.leaf("api.example.com").minted(by: intermediate)
        }
        try accept(verifier)
        for other in others {
            try accept(verifier, [other, intermediate])
            try accept(verifier)
        }
        #expect(small.count == 2)
        // The first one was asked for all the time, and stayed.
        #expect(small.counts.examined == 4)
    }

    @Test func `a proof of known certificates is the proof that examining gave`() throws {
        let verifier = try verifier {
            try $0.pins.add([root.pin()], for: "**.example.com", backup: .waived)
        }
        let proofs = try (0..<2).map { _ in
            try Handshake(verifier, host: host, sending: [leaf, intermediate]).verdict().get()
        }
        #expect(proofs[0] == proofs[1])
        #expect(proofs[0].matchedPin?.description == (try root.pin()))
    }
}
