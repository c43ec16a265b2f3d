import HTTPDNSTrust
import Testing

@testable import HTTPDNSTransport

@Suite struct GoAwaysTests {
    private final class Connection: PeerFarewell {
        let isSaid = false
    }

    @Test func `what one reads is known to all of its connection, and to no other`() {
        let goAways = GoAways()
        let (left, other) = (Connection(), Connection())
        let words = [left, left, other].map(goAways.join)
        goAways.note(lastStream: 5, on: left)
        #expect(words.map { $0.leavesUndone(7) } == [true, true, false])
        #expect(words.map { $0.leavesUndone(5) } == [false, false, false])
        // A request of which nobody knows where it went may have been carried out.
        #expect(!words[0].leavesUndone(nil))
    }

    @Test func `the second word of a peer that goes in peace is the one that counts`() {
        let goAways = GoAways()
        let connection = Connection()
        let word = goAways.join(connection)
        goAways.note(lastStream: 0x7FFF_FFFF, on: connection)
        #expect(!word.leavesUndone(9))
        goAways.note(lastStream: 7, on: connection)
        goAways.note(lastStream: 0x7FFF_FFFF, on: connection)
        #expect(word.leavesUndone(9))
    }

    @Test func `a connection that nobody has a stream on is forgotten`() {
        let goAways = GoAways()
        let connection = Connection()
        let first = goAways.join(connection)
        goAways.note(lastStream: 1, on: connection)
        goAways.leave(first)
        goAways.note(lastStream: 1, on: connection)
        #expect(!goAways.join(connection).leavesUndone(3))
    }
}
