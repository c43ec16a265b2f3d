import HTTPDNSNames
import Testing

@testable import HTTPDNSPlatform

/// Eventfds stand for sockets: to read when they were woken, to write always.
@Suite(.timeLimit(.minutes(1))) struct PollSetTests {
    private let signal: WakeSignal
    private let sockets: [WakeSignal]
    private let poll: PollSet

    init() throws {
        signal = try #require(WakeSignal())
        sockets = [
            try #require(WakeSignal()), try #require(WakeSignal()), try #require(WakeSignal()),
        ]
        poll = PollSet(signal)
    }

    private func ready() -> [PollSet.Ready] {
        var ready: [PollSet.Ready] = []
        poll.wait(until: .zero, now: .zero, &ready)
        return ready
    }

    private func readable(_ place: Int) -> PollSet.Ready {
        PollSet.Ready(
            socket: sockets[place].descriptor, isReadable: true, isWritable: false,
            isBroken: false)
    }

    @Test func `a descriptor that is none is told once, and ends no sleep after that`() {
        poll.watch(sockets[0].descriptor, forReading: true, forWriting: false)
        // Above every limit of descriptors. Source: Linux, fs.nr_open.
        poll.watch(.max, forReading: true, forWriting: false)
        let broken = PollSet.Ready(
            socket: .max, isReadable: false, isWritable: false, isBroken: true)
        #expect(ready() == [broken])
        #expect(ready() == [])
        sockets[0].wake()
        #expect(ready() == [readable(0)])
    }

    @Test func `a socket is told when it is ready for what was asked`() {
        for socket in sockets {
            poll.watch(socket.descriptor, forReading: true, forWriting: false)
        }
        #expect(ready() == [])
        sockets[1].wake()
        #expect(ready() == [readable(1)])
        poll.watch(sockets[1].descriptor, forReading: false, forWriting: true)
        let told = ready()
        #expect(told.map(\.isWritable) == [true])
        #expect(told.map(\.isReadable) == [false])
    }

    @Test func `the others are still watched when one is forgotten`() {
        for socket in sockets {
            poll.watch(socket.descriptor, forReading: true, forWriting: false)
            socket.wake()
        }
        poll.forget(sockets[0].descriptor)
        poll.forget(sockets[0].descriptor)
        #expect(Set(ready()) == [readable(1), readable(2)])
        poll.forget(sockets[2].descriptor)
        #expect(ready() == [readable(1)])
        poll.watch(sockets[0].descriptor, forReading: true, forWriting: false)
        #expect(Set(ready()) == [readable(0), readable(1)])
    }

    @Test func `a signal ends one sleep, and is no socket`() {
        signal.wake()
        signal.wake()
        var told: [PollSet.Ready] = []
        poll.wait(until: .distantFuture, now: .zero, &told)
        #expect(told == [])
        // Looked at from outside: what was not taken would end every sleep to come.
        let outside = PollSet(sockets[0])
        outside.watch(signal.descriptor, forReading: true, forWriting: false)
        outside.wait(until: .zero, now: .zero, &told)
        #expect(told == [])
    }

    @Test func `a descriptor that is none is told of as broken`() {
        // Beyond what a process may have.
        poll.watch(0x4000_0000, forReading: true, forWriting: false)
        #expect(ready().map(\.isBroken) == [true])
    }
}
