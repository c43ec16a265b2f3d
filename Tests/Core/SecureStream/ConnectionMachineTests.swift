import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSSecureStream
import Testing

@Suite struct ConnectionMachineTests {
    private var machine = ConnectionMachine(addressCount: 2)
    private let t0 = Monotonic.zero

    private func at(_ milliseconds: Int64) -> Monotonic {
        Monotonic.zero.adding(milliseconds: milliseconds)
    }

    private func serving(_ addresses: Int = 1) -> ConnectionMachine {
        var machine = ConnectionMachine(addressCount: addresses)
        _ = machine.start(now: t0)
        _ = machine.connected(0, now: t0)
        _ = machine.secured(now: t0)
        return machine
    }

    @Test func `one address: dial, shake hands, serve`() {
        var machine = ConnectionMachine(addressCount: 1)
        #expect(machine.start(now: t0) == [.dial(0)])
        #expect(machine.isSettingUp)
        #expect(machine.connected(0, now: at(10)) == [.shakeHands(0)])
        #expect(!machine.isServing)
        #expect(machine.secured(now: at(20)) == [.serve])
        #expect(machine.isServing)
        #expect(!machine.isSettingUp)
    }

    @Test mutating func `the second address is dialled beside the first after 250 ms`() {
        #expect(machine.start(now: t0) == [.dial(0)])
        #expect(machine.wakeAt == at(250))
        #expect(machine.woke(now: at(249)) == [])
        #expect(machine.woke(now: at(250)) == [.dial(1)])
        #expect(machine.connected(1, now: at(260)) == [.hangUp(0), .shakeHands(1)])
        // The loser's late news says nothing any more.
        #expect(machine.connected(0, now: at(261)) == [])
        #expect(machine.refused(0, .unreachable("late"), now: at(262)) == [])
    }

    @Test mutating func `a refused address gives way at once`() {
        _ = machine.start(now: t0)
        #expect(
            machine.refused(0, .unreachable("refused"), now: at(1)) == [.hangUp(0), .dial(1)])
        #expect(
            machine.refused(1, .unreachable("refused too"), now: at(2)) == [
                .hangUp(1), .close(.failed(.unreachable("refused"))),
            ])
        #expect(machine.isClosed)
    }

    @Test mutating func `a peer that is not trusted is passed over, and remembered`() {
        _ = machine.start(now: t0)
        _ = machine.connected(0, now: at(1))
        #expect(
            machine.refused(0, .untrusted("wrong name"), now: at(2)) == [.hangUp(0), .dial(1)])
        #expect(
            machine.refused(1, .unreachable("refused"), now: at(3)) == [
                .hangUp(1), .close(.failed(.untrusted("wrong name"))),
            ])
    }

    @Test mutating func `an address that was hung up on is dialled when the peer is not trusted`() {
        _ = machine.start(now: t0)
        _ = machine.woke(now: at(250))
        #expect(machine.connected(0, now: at(260)) == [.hangUp(1), .shakeHands(0)])
        #expect(
            machine.refused(0, .untrusted("wrong name"), now: at(270)) == [.hangUp(0), .dial(1)])
        #expect(machine.connected(1, now: at(280)) == [.shakeHands(1)])
        #expect(
            machine.refused(1, .unreachable("reset"), now: at(290)) == [
                .hangUp(1), .close(.failed(.untrusted("wrong name"))),
            ])
    }

    @Test mutating func `silence in the handshake ends it after five seconds`() {
        _ = machine.start(now: t0)
        _ = machine.connected(0, now: at(1))
        #expect(machine.wakeAt == at(5_001))
        #expect(machine.woke(now: at(5_001)) == [.hangUp(0), .dial(1)])
    }

    @Test func `addresses that never answer end the connection`() {
        var machine = ConnectionMachine(addressCount: 1)
        _ = machine.start(now: t0)
        #expect(machine.woke(now: at(5_000)) == [.close(.failed(.timedOut(tries: 1)))])
    }

    @Test func `an idle connection is closed after thirty seconds`() {
        var machine = serving()
        #expect(machine.wakeAt == at(30_000))
        machine.busied()
        #expect(machine.wakeAt == .distantFuture)
        #expect(machine.quieted(now: at(40_000)) == [])
        #expect(machine.wakeAt == at(70_000))
        #expect(machine.woke(now: at(70_000)) == [.close(.unused)])
    }

    @Test func `a draining connection ends with its last question`() {
        var machine = serving()
        machine.busied()
        #expect(machine.leaves(isQuiet: false) == [.retire])
        #expect(!machine.isServing)
        #expect(machine.leaves(isQuiet: false) == [])
        #expect(machine.quieted(now: at(5)) == [.close(.unused)])
    }

    @Test func `a connection without questions leaves at once`() {
        var machine = serving()
        #expect(machine.leaves(isQuiet: true) == [.retire, .close(.unused)])
    }

    @Test func `after the end nothing matters`() {
        var machine = serving()
        #expect(machine.broke("reset") == [.close(.broken("reset"))])
        #expect(machine.broke("again") == [])
        #expect(machine.quieted(now: at(1)) == [])
        #expect(machine.woke(now: at(100_000)) == [])
        #expect(machine.abandoned() == [])
        #expect(machine.secured(now: at(1)) == [])
        #expect(machine.misspoke() == [])
    }

    @Test mutating func `nothing is served before the peer has proved itself`() {
        _ = machine.start(now: t0)
        #expect(machine.secured(now: at(1)) == [])
        #expect(!machine.isServing)
        _ = machine.connected(0, now: at(1))
        #expect(machine.misspoke() == [.close(.wrongProtocol)])
        #expect(machine.secured(now: at(2)) == [])
        #expect(!machine.isServing)
    }

    @Test func `a service without an address fails as such`() {
        var machine = ConnectionMachine(addressCount: 0)
        guard case .close(.failed(.misconfigured)) = machine.start(now: t0).first else {
            Issue.record("no failure")
            return
        }
    }
}
