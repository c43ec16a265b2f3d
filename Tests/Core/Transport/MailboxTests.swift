import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSTrust
import Testing

@testable import HTTPDNSTransport

@Suite(.timeLimit(.minutes(1))) struct MailboxTests {
    private final class Silent: TransferObserver {
        func verified(_ peer: VerifiedPeer?, connection: ConnectionFacts) {}
        func received(_ head: ResponseHead) {}
        func received(body: UnsafeRawBufferPointer) -> Flow { .more }
        func finished(_ result: Result<TransferFacts, TransportFailure>) {}
    }

    private let mailbox = Mailbox()
    private let signal: WakeSignal
    private let poll: PollSet
    private let observed: WakeSignal

    init() throws {
        signal = try #require(WakeSignal())
        observed = try #require(WakeSignal())
        poll = PollSet(observed)
        poll.watch(signal.descriptor, forReading: true, forWriting: false)
    }

    private var isWoken: Bool {
        var ready: [PollSet.Ready] = []
        poll.wait(until: .zero, now: .zero, &ready)
        return !ready.isEmpty
    }

    private func start() throws -> Mailbox.Reception {
        let address = try IPAddress("127.0.0.1")
        let port = try #require(Port(80))
        let request = TransportRequest(
            origin: Origin(scheme: .http, host: .address(address)),
            route: try #require(Route(addresses: [address], port: port)), method: .get,
            target: "/", verifier: nil)
        return mailbox.post(.start(Transfer(request, mailbox: mailbox), Silent()))
    }

    @Test func `mail wakes an engine that dozes, once, and no other`() throws {
        #expect(try start() == .needsThread)
        mailbox.attach(signal)
        #expect(try start() == .taken)
        #expect(!isWoken)
        #expect(mailbox.take().commands.count == 2)
        #expect(mailbox.doze())
        #expect(try start() == .taken)
        #expect(isWoken)
        signal.drain()
        #expect(try start() == .taken)
        #expect(!isWoken)
    }

    @Test func `an engine with mail does not doze`() throws {
        #expect(try start() == .needsThread)
        mailbox.attach(signal)
        #expect(!mailbox.doze())
        _ = mailbox.take()
        #expect(mailbox.doze())
    }

    @Test func `a close wakes an engine that dozes, and it never dozes again`() throws {
        #expect(try start() == .needsThread)
        mailbox.attach(signal)
        _ = mailbox.take()
        #expect(mailbox.doze())
        mailbox.close()
        #expect(isWoken)
        #expect(!mailbox.doze())
        #expect(mailbox.take().isClosed)
    }

    @Test func `what is posted while nobody works is dropped, but a start`() throws {
        #expect(mailbox.post(.leaveConnections) == .refused)
        #expect(try start() == .needsThread)
        #expect(!mailbox.sleepIfEmpty())
        _ = mailbox.take()
        #expect(mailbox.sleepIfEmpty())
        #expect(mailbox.post(.leaveConnections) == .refused)
    }
}
