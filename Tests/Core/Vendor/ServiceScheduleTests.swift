import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import Testing

@Suite struct ServiceScheduleTests {
    typealias Moment = ServiceSchedule.Moment

    private func server(_ number: Int) throws -> Endpoint {
        Endpoint(address: try IPAddress("192.0.2.\(number)"), port: .https)
    }

    private func at(_ seconds: Int64) -> Moment {
        Moment(
            monotonic: Monotonic.zero.adding(seconds: seconds),
            wall: WallTime(secondsSince1970: 1_750_000_000 + seconds))
    }

    private func schedule(_ numbers: [Int] = [1, 2]) throws -> ServiceSchedule {
        ServiceSchedule(bootstrap: try numbers.map(server), stored: nil)
    }

    private func order(_ schedule: inout ServiceSchedule, _ now: Moment) -> [String]? {
        let (result, _) = schedule.plan(now)
        return (try? result.get())?.order.map(\.address.description)
    }

    private func fetched(
        _ schedule: inout ServiceSchedule, _ numbers: [Int], _ now: Moment
    ) throws -> [ServiceSchedule.Action] {
        schedule.fetched(
            ServiceSchedule.ServiceList(servers: try numbers.map(server)), now)
    }

    @Test func `the list is fetched once at the start, and bootstrap servers answer meanwhile`()
        throws
    {
        var schedule = try schedule()
        #expect(schedule.started(at(0)) == [.fetch])
        #expect(schedule.started(at(0)) == [])
        let (result, actions) = schedule.plan(at(1))
        #expect(try result.get().servers.count == 2)
        #expect(actions == [])
    }

    @Test func `a list takes the place of the bootstrap servers and is saved`() throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        let stored = ServiceSchedule.Stored(
            servers: [try server(7), try server(8)], cursor: 0, fetchedAt: at(1).wall)
        #expect(try fetched(&schedule, [7, 8], at(1)) == [.save(stored)])
        #expect(order(&schedule, at(2)) == ["192.0.2.7", "192.0.2.8"])
    }

    @Test func `a list is fetched anew when it is eight hours old, not before`() throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        _ = try fetched(&schedule, [7], at(0))
        #expect(schedule.plan(at(8 * 3_600 - 1)).1 == [])
        #expect(schedule.plan(at(8 * 3_600)).1 == [.fetch])
    }

    @Test func `a list of the future is not trusted to be fresh`() throws {
        var schedule = ServiceSchedule(
            bootstrap: [try server(1)],
            stored: ServiceSchedule.Stored(
                servers: [try server(7)], cursor: 0, fetchedAt: at(1_000).wall))
        #expect(schedule.plan(at(0)).1 == [.fetch])
    }

    @Test func `what was stored is asked first, from where it stopped`() throws {
        var schedule = ServiceSchedule(
            bootstrap: [try server(1)],
            stored: ServiceSchedule.Stored(
                servers: [try server(7), try server(8)], cursor: 1, fetchedAt: at(-60).wall))
        #expect(order(&schedule, at(0)) == ["192.0.2.8", "192.0.2.7"])
    }

    @Test func `a change of network fetches at once, whatever failed before`() throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        _ = schedule.fetchFailed(at(1))
        #expect(schedule.plan(at(2)).1 == [])
        #expect(schedule.networkChanged(at(3)) == [.fetch])
    }

    @Test(arguments: [true, false])
    func `a change of network while a fetch is under way is followed by another`(
        doesAnswer: Bool
    ) throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        #expect(schedule.networkChanged(at(1)) == [])
        let actions =
            doesAnswer ? try fetched(&schedule, [7], at(2)) : schedule.fetchFailed(at(2))
        #expect(actions.filter { $0 == .fetch } == [.fetch])
        // That one is the last.
        #expect(try !fetched(&schedule, [8], at(3)).contains(.fetch))
        #expect(order(&schedule, at(4)) == ["192.0.2.8"])
    }

    @Test func `a full turn does not cut the pause after a failed fetch short`() throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        _ = schedule.fetchFailed(at(0))
        _ = schedule.failed(try server(1), at(1))
        #expect(!schedule.failed(try server(2), at(1)).contains(.fetch))
        #expect(schedule.plan(at(31)).1 == [])
        #expect(schedule.plan(at(299)).1 == [])
        #expect(schedule.plan(at(300)).1 == [.fetch])
    }

    @Test func `after a fetch that failed there is a pause of five minutes`() throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        _ = schedule.fetchFailed(at(0))
        #expect(schedule.plan(at(299)).1 == [])
        #expect(schedule.plan(at(300)).1 == [.fetch])
    }

    @Test func `an empty list changes nothing and counts as failed`() throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        #expect(try fetched(&schedule, [], at(0)) == [])
        #expect(order(&schedule, at(1)) == ["192.0.2.1", "192.0.2.2"])
        #expect(schedule.plan(at(10)).1 == [])
    }

    @Test func `a service that is off refuses, until a later list says otherwise`() throws {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        _ = schedule.fetched(
            ServiceSchedule.ServiceList(servers: [], isTurnedOff: true), at(0))
        #expect(throws: QueryFailure.rejected(code: "ServiceDisabled")) {
            try schedule.plan(at(1)).0.get()
        }
        #expect(schedule.networkChanged(at(2)) == [.fetch])
        _ = try fetched(&schedule, [7], at(3))
        #expect(order(&schedule, at(4)) == ["192.0.2.7"])
    }

    @Test func `a full turn of failures fetches the list, and not again for half a minute`()
        throws
    {
        var schedule = try schedule()
        _ = schedule.started(at(0))
        _ = try fetched(&schedule, [7, 8], at(0))
        _ = schedule.failed(try server(7), at(1))
        #expect(schedule.failed(try server(8), at(1)).contains(.fetch))
        _ = schedule.fetchFailed(at(1))
    }

    @Test func `two shifts without an answer rest the service, with one probe in 30 s`() throws {
        var schedule = try schedule([1, 2, 3])
        _ = schedule.started(at(0))
        _ = try fetched(&schedule, [7, 8, 9], at(0))
        _ = schedule.failed(try server(7), at(1))
        #expect(order(&schedule, at(1))?.count == 3)
        _ = schedule.failed(try server(8), at(1))
        #expect(order(&schedule, at(1)) == ["192.0.2.9"])
        #expect(throws: QueryFailure.resting(milliseconds: 29_000)) {
            try schedule.plan(at(2)).0.get()
        }
        #expect(order(&schedule, at(31)) == ["192.0.2.9"])
        #expect(order(&schedule, at(32)) == nil)
        _ = schedule.answered(try server(9), at(33))
        #expect(order(&schedule, at(33)) == ["192.0.2.9", "192.0.2.7", "192.0.2.8"])
    }

    @Test func `an answer between two failures keeps the service awake`() throws {
        var schedule = try schedule([1, 2, 3])
        _ = schedule.failed(try server(1), at(1))
        _ = schedule.answered(try server(2), at(2))
        _ = schedule.failed(try server(2), at(3))
        #expect(order(&schedule, at(3)) == ["192.0.2.3", "192.0.2.1", "192.0.2.2"])
    }

    @Test func `failures of one server that come late do not shift twice`() throws {
        var schedule = try schedule([1, 2, 3])
        for _ in 0..<5 { _ = schedule.failed(try server(1), at(1)) }
        #expect(order(&schedule, at(1)) == ["192.0.2.2", "192.0.2.3", "192.0.2.1"])
    }
}

@Suite struct ServerRotationTests {
    private func rotation(_ numbers: [Int], cursor: Int = 0) throws -> ServerRotation {
        ServerRotation(
            try numbers.map { Endpoint(address: try IPAddress("192.0.2.\($0)"), port: .http) },
            cursor: cursor)
    }

    @Test func `a failure asks the next, and the last leads back to the first`() throws {
        var rotation = try rotation([1, 2])
        let (one, two) = (rotation.servers[0], rotation.servers[1])
        #expect(rotation.failed(one) == false)
        #expect(rotation.current == two)
        #expect(rotation.failed(two) == true)
        #expect(rotation.current == one)
    }

    @Test func `one that stands in and answers is asked first from then on`() throws {
        var rotation = try rotation([1, 2, 3])
        rotation.answered(rotation.servers[2])
        #expect(rotation.order.map(\.address.description).first == "192.0.2.3")
    }

    @Test func `servers that have had their turn are left out, unless all have`() throws {
        let rotation = try rotation([1, 2, 3], cursor: 1)
        let (one, two, three) = (rotation.servers[0], rotation.servers[1], rotation.servers[2])
        #expect(rotation.without([two]).order == [three, one])
        #expect(rotation.without([two, three, one]) == rotation)
        #expect(rotation.without([]) == rotation)
    }

    @Test func `no list, strangers and cursors beyond the end are harmless`() throws {
        var empty = try rotation([])
        #expect(empty.current == nil)
        #expect(empty.route == nil)
        #expect(empty.order.isEmpty)
        let stranger = Endpoint(address: try IPAddress("192.0.2.99"), port: .http)
        #expect(empty.failed(stranger) == false)
        var rotation = try rotation([1, 1, 2], cursor: 17)
        #expect(rotation.servers.count == 2)
        #expect(rotation.failed(stranger) == false)
        rotation.answered(stranger)
        #expect(rotation.current == rotation.servers[0])
    }

    @Test func `only servers of one port share a route`() throws {
        let port = try #require(Port(8_443))
        let rotation = ServerRotation([
            Endpoint(address: try IPAddress("192.0.2.1"), port: port),
            Endpoint(address: try IPAddress("192.0.2.2"), port: .https),
            Endpoint(address: try IPAddress("192.0.2.3"), port: port),
        ])
        #expect(rotation.route?.description == "192.0.2.1:8443, 192.0.2.3:8443")
    }
}
