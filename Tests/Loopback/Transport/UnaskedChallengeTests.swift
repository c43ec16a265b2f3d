import Glibc
import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import TestSupport
import Testing

/// Octets that come between a challenge and the request that meets it, which has the same connection.
@Suite(.timeLimit(.minutes(2))) struct UnaskedChallengeTests {
    /// Challenges who brings no credentials, and says more before its client can have looked.
    private final class Challenger: LinkScript {
        struct Asked: Sendable, Hashable {
            let connection: Int
            let isAuthorized: Bool
            let body: String
        }

        private let number: Int
        private let asked: Locked<[Asked]>
        private let whileHeld: (() -> Void) -> Void
        private var buffer = ""

        init(
            _ number: Int, _ asked: Locked<[Asked]>, whileHeld: @escaping (() -> Void) -> Void
        ) {
            self.number = number
            self.asked = asked
            self.whileHeld = whileHeld
        }

        func opened(_ link: Link) {}

        func received(_ octets: [UInt8], _ link: Link) {
            buffer += String(decoding: octets, as: UTF8.self)
            let parts = buffer.split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return }
            let isAuthorized = parts[0].contains("\r\nAuthorization: Digest ")
            let isBodyDue = isAuthorized && parts[0].hasPrefix("POST ")
            guard !isBodyDue || parts[1] == "pay" else { return }
            buffer = ""
            asked.withLock {
                $0.append(
                    Asked(connection: number, isAuthorized: isAuthorized, body: String(parts[1])))
            }
            if isAuthorized { return link.say(Array(UnaskedStage.answer("its own").utf8)) }
            whileHeld {
                link.say(
                    Array(
                        ("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"lab\", "
                            + "qop=\"auth\", nonce=\"n0nce\"\r\nContent-Length: 5\r\n\r\nhello")
                            .utf8
                    ))
                // A record of its own, which is not read with the one before.
                link.say(Array(UnaskedStage.answer("poison").utf8))
                link.waitUntilTaken()
            }
        }
    }

    @Test(arguments: [false, true])
    func `the request goes out on a fresh connection, with its credentials`(
        isPost: Bool
    ) async throws {
        let lab = try TrustedLab()
        let identity = try lab.root.leaf(["shop.example.test"], commonName: "Lab origin")
        let asked = Locked<[Challenger.Asked]>([])
        let (connections, held, mayAnswer) = (Locked(0), BlockedCalls(), BlockedCalls())
        defer {
            held.release()
            mayAnswer.release()
        }
        // The body of another exchange holds the thread that would read, until all is there.
        let other = try ScriptedServer { connection in
            guard connection.readHead() != nil else { return }
            mayAnswer.block()
            connection.send(UnaskedStage.answer("other"))
        }
        let server = try RawTLSServer(identity, .http1) {
            let number = connections.withLock {
                $0 += 1
                return $0
            }
            return Challenger(number, asked) { speak in
                mayAnswer.release()
                while held.begun == 0 { sched_yield() }
                speak()
                held.release()
            }
        }
        let transport = Transport()
        let holder = Recorder(onBody: { _ in
            held.block()
            return .more
        })
        let holding = transport.start(try plainRequest(other), observer: holder)
        let request = try secureRequest(
            to: "shop.example.test", at: Endpoint(address: server.address, port: server.port),
            verifier: lab.verifier
        ) {
            $0.credentials = OriginCredentials("me", Secret("pass"), by: .digest, for: $0.origin)
            guard isPost else { return }
            $0.method = .post
            $0.body = .stream(
                ScriptedSource([.give(Array("pay".utf8))], length: 3, isReplayable: false))
        }
        let story = await run(request, transport)
        #expect(story.text == "its own" && story.failure == nil, "\(story.results)")
        #expect(story.heads.map(\.status) == [200])
        #expect(
            asked.withLock { $0 } == [
                .init(connection: 1, isAuthorized: false, body: ""),
                .init(connection: 2, isAuthorized: true, body: isPost ? "pay" : ""),
            ])
        #expect(await holder.end().text == "other")
        withExtendedLifetime(holding) {}
    }
}
