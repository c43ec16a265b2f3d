import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSResolution
import Testing

/// What a lookup held is gone once its caller was told, whoever keeps what it was given.
@Suite(.timeLimit(.minutes(1))) struct LettingGoTests {
    /// Work that holds whom it tells, as a gathering does.
    private final class Work: Stoppable {
        let deliver: @Sendable (Result<Int, LookupFailure>) -> Void

        init(_ deliver: @escaping @Sendable (Result<Int, LookupFailure>) -> Void) {
            self.deliver = deliver
        }

        func stop() { deliver(.failure(.cancelled)) }
    }

    private struct Weak: Sendable {
        weak var object: (any AnyObject & Sendable)?
    }

    private final class Held: Sendable {}

    /// Work, and the answer that waits for it, once the caller was told.
    private func told(atOnce: Bool) async throws -> [Weak] {
        let pending = PendingAnswer<Int, LookupFailure>(ifCancelled: .cancelled)
        let seen = Locked(Weak())
        let number = try await pending.value { deliver in
            let work = Work(deliver)
            seen.withLock { $0.object = work }
            if atOnce {
                work.deliver(.success(1))
            } else {
                Task.detached { work.deliver(.success(1)) }
            }
            return work
        }
        #expect(number == 1)
        return [seen.withLock { $0 }, Weak(object: pending)]
    }

    private func isGone(_ all: [Weak]) async {
        // A task that told may still be on its way out; what is kept by a cycle stays for ever.
        for one in all {
            while one.object != nil { await Task.yield() }
        }
    }

    @Test(arguments: [true, false])
    func `work that has answered is let go of, at once or later`(atOnce: Bool) async throws {
        await isGone(try await told(atOnce: atOnce))
    }

    /// A resolver whose answers are at hand.
    private func resolver() throws -> Resolver {
        var options = ResolverOptions()
        options.routes = try RoutingRules("api.example.test = 192.0.2.1 2001:db8::1")
        return Resolver(sources: [], options: options)
    }

    private func resolved() async throws -> [Weak] {
        let resolver = try resolver()
        let found = try await resolver.resolve(.name(try HostName("api.example.test")))
        #expect(found.addresses.count == 2)
        return [Weak(object: resolver)]
    }

    @Test func `a resolver ends though it answered at once`() async throws {
        await isGone(try await resolved())
    }

    @Test func `who keeps the handle does not keep what was called back`() async throws {
        let host = Host.name(try HostName("api.example.test"))
        let resolver = try resolver()
        let told = Locked(0)
        var held: Held? = Held()
        let last = Weak(object: held)
        let handle = resolver.resolve(host) { [held] _ in
            told.withLock { $0 += 1 }
            _ = held
        }
        held = nil
        #expect(told.withLock { $0 } == 1)
        await isGone([last])
        handle.cancel()
        #expect(told.withLock { $0 } == 1)
    }
}
