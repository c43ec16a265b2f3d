import HTTPDNSLookup
import HTTPDNSNames
import Testing

@Suite struct AddressRaceTests {
    private var race = AddressRace(addressCount: 3)

    @Test mutating func `each address has its delay, whatever its family`() {
        #expect(race.dialNext(now: .zero) == 0)
        #expect(race.nextAt == .at(250))
        #expect(race.timeReached(now: .at(249)) == nil)
        #expect(race.timeReached(now: .at(250)) == 1)
        #expect(race.timeReached(now: .at(500)) == 2)
        #expect(race.dialled == [0, 1, 2])
        #expect(race.nextAt == .distantFuture)
    }

    @Test mutating func `an address that fails is followed at once`() {
        _ = race.dialNext(now: .zero)
        #expect(race.failed(0) == true)
        #expect(race.dialNext(now: .at(5)) == 1)
        #expect(race.nextAt == .at(255))
    }

    @Test mutating func `those that lost have their turn again, before those that had none`() {
        _ = race.dialNext(now: .zero)
        _ = race.timeReached(now: .at(250))
        #expect(race.connected(1) == [0])
        #expect(race.nextAt == .distantFuture)
        // Its peer is not the one we mean.
        #expect(race.failed(1) == true)
        #expect(race.dialNext(now: .at(400)) == 0)
        #expect(race.failed(0) == true)
        #expect(race.dialNext(now: .at(410)) == 2)
        #expect(race.failed(2) == true)
        #expect(race.isOver)
    }

    @Test mutating func `what is told of an address that is not being dialled is ignored`() {
        #expect(race.connected(0) == nil)
        _ = race.dialNext(now: .zero)
        #expect(race.failed(2) == false)
        #expect(race.connected(7) == nil)
        #expect(race.failed(0) == true)
        #expect(race.failed(0) == false)
    }
}
