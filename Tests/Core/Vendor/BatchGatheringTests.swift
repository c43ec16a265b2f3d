import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire
import Testing

@Suite struct BatchGatheringTests {
    private var core = BatchGathering(
        Batching(maximumNames: 1, joinsFamilies: true), windowMilliseconds: 2)
    private let later = Monotonic.zero.adding(milliseconds: 1_000)
    private let latest = Monotonic.zero.adding(milliseconds: 2_000)

    private func waiter(_ number: UInt64) -> BatchGathering.WaiterID {
        BatchGathering.WaiterID(number: number)
    }

    private func question(
        _ name: String = "a.example.test", _ type: RecordType = .a
    ) throws -> Question { try Vendor.question(name, type) }

    /// The batches sent, as the texts of their questions.
    private func sent(_ actions: [BatchGathering.Action]) -> [[String]] {
        actions.compactMap { action in
            guard case .send(_, let questions, _) = action else { return nil }
            return questions.map { "\($0.name) \($0.type.name)" }
        }
    }

    private func batch(_ actions: [BatchGathering.Action]) -> BatchGathering.BatchID? {
        for action in actions {
            switch action {
            case .armWindow(let id, _), .send(let id, _, _), .stop(let id): return id
            }
        }
        return nil
    }

    @Test mutating func `both families of a name go at once in one request`() throws {
        let first = core.asked(
            try question(), by: waiter(1), deadline: later, now: .zero)
        #expect(sent(first).isEmpty)
        let second = core.asked(
            try question("a.example.test", .aaaa), by: waiter(2), deadline: latest, now: .zero)
        #expect(sent(second) == [["a.example.test A", "a.example.test AAAA"]])
        guard case .send(_, _, let deadline) = second.first else { return }
        #expect(deadline == latest)
    }

    @Test mutating func `a question that stays alone goes when the window is over`() throws {
        let actions = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        guard case .armWindow(let id, let moment) = actions.first else {
            Issue.record("no window")
            return
        }
        #expect(moment == Monotonic.zero.adding(milliseconds: 2))
        #expect(sent(core.windowEnded(id)) == [["a.example.test A"]])
        #expect(core.windowEnded(id).isEmpty)
    }

    @Test mutating func `another name waits in a batch of its own without batching`() throws {
        _ = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        let actions = core.asked(
            try question("b.example.test"), by: waiter(2), deadline: later, now: .zero)
        #expect(sent(actions) == [["a.example.test A"]])
        #expect(actions.count == 2)
    }

    @Test mutating func `with batching names go together up to their number`() throws {
        core = BatchGathering(
            Batching(maximumNames: 2, joinsFamilies: false), windowMilliseconds: 2)
        _ = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        let full = core.asked(
            try question("b.example.test"), by: waiter(2), deadline: later, now: .zero)
        #expect(sent(full) == [["a.example.test A", "b.example.test A"]])
    }

    @Test mutating func `questions of different kinds never share a request`() throws {
        core = BatchGathering(
            Batching(maximumNames: 5, joinsFamilies: true), windowMilliseconds: 2)
        var other = try question("a.example.test", .aaaa)
        other.clientSubnet = AddressBlock(try IPAddress("192.0.2.0"), prefixBits: 24)
        var third = try question("b.example.test")
        third.serviceParameters = try ServiceParameters([("k", "v")])
        let one = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        let two = core.asked(other, by: waiter(2), deadline: later, now: .zero)
        let three = core.asked(third, by: waiter(3), deadline: later, now: .zero)
        #expect(Set([batch(one), batch(two), batch(three)]).count == 3)
    }

    @Test mutating func `a question asked twice is asked once and answered to both`() throws {
        let actions = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        _ = core.asked(try question(), by: waiter(2), deadline: later, now: .zero)
        let id = try #require(batch(actions))
        #expect(sent(core.windowEnded(id)) == [["a.example.test A"]])
        #expect(Set(core.answered(id).keys) == [waiter(1), waiter(2)])
        #expect(core.answered(id).isEmpty)
    }

    @Test mutating func `who leaves before the window is over is not asked for`() throws {
        core = BatchGathering(
            Batching(maximumNames: 5, joinsFamilies: true), windowMilliseconds: 2)
        let actions = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        _ = core.asked(
            try question("b.example.test"), by: waiter(2), deadline: later, now: .zero)
        #expect(core.left(waiter(1)).isEmpty)
        let id = try #require(batch(actions))
        #expect(sent(core.windowEnded(id)) == [["b.example.test A"]])
    }

    @Test mutating func `when the last waiter leaves the request is stopped`() throws {
        let actions = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        _ = core.asked(try question(), by: waiter(2), deadline: later, now: .zero)
        let id = try #require(batch(actions))
        _ = core.windowEnded(id)
        #expect(core.left(waiter(1)).isEmpty)
        #expect(core.isWanted(id))
        #expect(core.left(waiter(2)) == [.stop(id)])
        #expect(!core.isWanted(id))
        #expect(core.left(waiter(2)).isEmpty)
    }

    @Test mutating func `when all leave before the window is over nothing is asked`() throws {
        let actions = core.asked(try question(), by: waiter(1), deadline: later, now: .zero)
        let id = try #require(batch(actions))
        #expect(core.left(waiter(1)).isEmpty)
        #expect(core.windowEnded(id).isEmpty)
        // The next question begins a batch of its own.
        let next = core.asked(try question(), by: waiter(3), deadline: later, now: .zero)
        #expect(batch(next) != id)
    }
}
