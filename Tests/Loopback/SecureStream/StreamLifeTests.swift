import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSSecureStream
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// What both forms of encrypted DNS keep, whatever the server does.
@Suite(.timeLimit(.minutes(2))) struct StreamLifeTests {
    private let lab: StreamLab

    init() throws { lab = try StreamLab() }

    private func soon(_ milliseconds: Int64) -> Monotonic {
        SystemMonotonicClock().now().adding(milliseconds: milliseconds)
    }

    @Test(arguments: StreamForm.allCases)
    func `one connection carries question after question`(form: StreamForm) async throws {
        let server = try form.server(lab)
        let backend = try form.backend(lab, at: server)
        for _ in 0..<20 { #expect(try await backend.asked("ok", .a).answers.count == 2) }
        #expect(server.record.connections == 1)
    }

    @Test(arguments: StreamForm.allCases)
    func `back-ends of one resolver and policy share a connection`(
        form: StreamForm
    ) async throws {
        let server = try form.server(lab)
        let first = try form.backend(lab, at: server)
        let second = try form.backend(lab, at: server)
        _ = try await first.asked("ok", .a)
        _ = try await second.asked("ok", .a)
        #expect(server.record.connections == 1)
    }

    @Test(arguments: StreamForm.allCases)
    func `another policy gets a connection of its own`(form: StreamForm) async throws {
        let server = try form.server(lab)
        var policy = TrustPolicy(roots: .pem(lab.lab.root.certificatePEM))
        policy.minimumTLS = .tls13
        let other = try OpenSSLVerifier(policy: policy)
        let first = try form.backend(lab, at: server)
        let second = try form.backend(lab, at: server, verifier: other)
        _ = try await first.asked("ok", .a)
        _ = try await second.asked("ok", .a)
        #expect(server.record.connections == 2)
    }

    @Test(arguments: StreamForm.allCases)
    func `a pin that does not match keeps every octet back`(form: StreamForm) async throws {
        let server = try form.server(lab)
        let pin = try #require(Pin(sha256: [UInt8](repeating: 7, count: 32)))
        let backend = try form.backend(lab, at: server, verifier: lab.lab.pinned(to: pin))
        #expect(await backend.failure("ok", .a)?.label == "untrusted")
        #expect(server.record.octets == 0)
    }

    @Test(arguments: StreamForm.allCases)
    func `a server of another name gets no octet`(form: StreamForm) async throws {
        let server = try form.server(lab, for: "other.example.test")
        let failure = await (try form.backend(lab, at: server)).failure("ok", .a)
        #expect(failure?.label == "untrusted")
        #expect(server.record.octets == 0)
    }

    @Test(arguments: StreamForm.allCases)
    func `a certificate that has ended gets no octet`(form: StreamForm) async throws {
        let clock = FakeWallClock(WallTime(secondsSince1970: 4_000_000_000))
        let late = try OpenSSLVerifier(
            policy: TrustPolicy(roots: .pem(lab.lab.root.certificatePEM)), clock: clock)
        let server = try form.server(lab)
        let failure = await (try form.backend(lab, at: server, verifier: late)).failure("ok", .a)
        #expect(failure?.label == "untrusted")
        #expect(server.record.octets == 0)
    }

    @Test(arguments: StreamForm.allCases)
    func `a certificate of an unknown authority gets no octet`(form: StreamForm) async throws {
        let stranger = try TrustedLab()
        let server = try form.server(lab)
        let backend = try form.backend(lab, at: server, verifier: stranger.verifier)
        #expect(await backend.failure("ok", .a)?.label == "untrusted")
        #expect(server.record.octets == 0)
    }

    @Test(arguments: StreamForm.allCases)
    func `a question that was on a dying connection is put again`(
        form: StreamForm
    ) async throws {
        let seen = Locked(0)
        let server = try form.server(lab) { query, link in
            let number = seen.withLock { seen in
                seen += 1
                return seen
            }
            // The second question finds the kept connection dying.
            guard number != 2 else {
                link?.reset()
                return nil
            }
            return ContractZone.octets(answering: query)
        }
        let backend = try form.backend(lab, at: server)
        _ = try await backend.asked("ok", .a)
        let testimony = try await backend.asked("ok", .a)
        #expect(testimony.answers.count == 2)
        #expect(testimony.source.tries == 2)
        #expect(server.record.connections == 2)
    }

    @Test(arguments: StreamForm.allCases)
    func `a server that always hangs up is asked twice, no more`(
        form: StreamForm
    ) async throws {
        let server = try form.server(lab) { _, link in
            link?.close()
            return nil
        }
        let failure = await (try form.backend(lab, at: server)).failure("ok", .a)
        #expect(failure?.label == "unreachable", "\(String(describing: failure))")
        #expect(server.record.connections == 2, "\(String(describing: failure))")
    }

    @Test(arguments: StreamForm.allCases)
    func `questions outlive a server that starts anew`(form: StreamForm) async throws {
        var server = try form.server(lab)
        let backend = try form.backend(lab, at: server)
        _ = try await backend.asked("ok", .a)
        server.stop()
        #expect(await backend.failure("ok", .a)?.label == "unreachable")
        server = try form.server(lab, port: server.port)
        #expect(try await backend.asked("ok", .a).answers.count == 2)
    }

    @Test(arguments: StreamForm.allCases)
    func `a server that accepts and says nothing ends at the deadline`(
        form: StreamForm
    ) async throws {
        let server = try RawTLSServer(lab.identity(), .dot, accepts: false) {
            MessageScript { _, _ in }
        }
        let backend = try form.backend(lab, at: server)
        let failure = await backend.failure("ok", .a, deadline: soon(150))
        #expect(failure == .timedOut(tries: 0))
    }

    @Test(arguments: StreamForm.allCases)
    func `a connection that has gone silent gets no further question`(
        form: StreamForm
    ) async throws {
        let isDeaf = Locked(false)
        let server = try form.server(lab) { query, link in
            let isLost = isDeaf.withLock { isDeaf in
                defer { isDeaf = false }
                return isDeaf
            }
            return isLost ? nil : ContractZone.octets(answering: query)
        }
        let backend = try form.backend(lab, at: server)
        _ = try await backend.asked("ok", .a)
        isDeaf.withLock { $0 = true }
        let failure = await backend.failure("ok", .a, deadline: soon(100))
        #expect(failure == .timedOut(tries: 1))
        #expect(try await backend.asked("ok", .a).answers.count == 2)
        #expect(server.record.connections == 2)
    }

    @Test(arguments: StreamForm.allCases)
    func `a thousand questions at once each get their answer`(form: StreamForm) async throws {
        let server = try form.server(lab)
        let backend = try form.backend(lab, at: server)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let answers = try await backend.asked("many-\(number)", .a).answers
                    let address = try IPAddress("198.51.\(number >> 8).\(number & 0xFF)")
                    return answers.map { $0.data } == [.address(address)]
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.record.connections == 1)
    }

    @Test(arguments: StreamForm.allCases)
    func `cancelling at any moment leaves the connection whole`(form: StreamForm) async throws {
        let server = try form.server(lab)
        let backend = try form.backend(lab, at: server)
        let tasks = (0..<300).map { number in
            Task { try? await backend.asked("many-\(number)", .a).answers.first?.data }
        }
        for (number, task) in tasks.enumerated() where number % 3 != 0 {
            if number % 7 == 0 { await Task.yield() }
            task.cancel()
        }
        for (number, task) in tasks.enumerated() {
            let data = await task.value
            let right = try IPAddress("198.51.\(number >> 8).\(number & 0xFF)")
            #expect(data == .address(right) || data == nil && number % 3 != 0)
        }
        #expect(try await backend.asked("ok", .a).answers.count == 2)
    }

    @Test(arguments: StreamForm.allCases)
    func `the connection goes with the last back-end that uses it`(
        form: StreamForm
    ) async throws {
        let server = try form.server(lab)
        var backend: (any ResolverBackend)? = try form.backend(lab, at: server)
        _ = try await backend?.asked("ok", .a)
        #expect(await eventually { server.record.openConnections == 1 })
        backend = nil
        #expect(await eventually { server.record.openConnections == 0 })
    }

    @Test(arguments: StreamForm.allCases)
    func `a stopped engine ends what it carries and takes no more`(
        form: StreamForm
    ) async throws {
        let server = try form.server(lab) { _, _ in nil }
        let backend = try form.backend(lab, at: server)
        let waiting = Task { await backend.failure("ok", .a) }
        #expect(await eventually { server.record.octets > 0 })
        lab.engine.stop()
        #expect(await waiting.value == .cancelled)
        #expect(await backend.failure("ok", .a)?.label == "misconfigured")
    }
}
