import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import Testing

@Suite struct DNSPodScheduleTests {
    private func list(_ body: String, status: Int = 200) throws -> ServiceSchedule.ServiceList {
        let codec = try DNSPodScheduleCodec(DNSPodCodec(token: Secret("800654663")))
        return try codec.list(in: Vendor.response(body, status: status), port: .https)
    }

    @Test func `the list is asked for beside the questions, known as they are`() throws {
        let token = try DNSPodScheduleCodec(DNSPodCodec(token: Secret("800654663")))
        #expect(try token.request(now: Vendor.now).target == "/conf?token=800654663")
        let key = try DNSPodCodec(
            path: "/base/d?x=1", access: .aes(id: "2", key: Secret("0123456789abcdef")))
        #expect(
            try DNSPodScheduleCodec(key).request(now: Vendor.now).target
                == "/base/conf?x=1&id=2&alg=aes")
        #expect(throws: QueryFailure.self) { try DNSPodScheduleCodec(DNSPodCodec()) }
    }

    @Test(arguments: [
        ("log:1|domain:0|ip:192.0.2.1;192.0.2.2|ttl:90", ["192.0.2.1", "192.0.2.2"], 5_400),
        ("ip:2001:db8::1", ["2001:db8::1"], 3_600), ("ip:|ttl:1", [], 60),
        ("ip:192.0.2.1|ttl:0", ["192.0.2.1"], 3_600),
        ("ip:192.0.2.1;|ttl:1441\n", ["192.0.2.1"], 3_600),
        ("ip:192.0.2.1|ttl:9223372036854775808", ["192.0.2.1"], 3_600),
    ])
    func `addresses and minutes are read`(
        body: String, addresses: [String], seconds: Int64
    ) throws {
        let list = try list(body)
        #expect(list.servers.map(\.address.description) == addresses)
        #expect(list.servers.allSatisfy { $0.port == .https })
        #expect(list.freshSeconds == seconds)
        #expect(!list.isTurnedOff)
    }

    @Test(arguments: [
        "", "<html>", "log:1|ttl:60", "ip:x", "ip:192.0.2.1%eth0",
        "ip:" + String(repeating: "192.0.2.1;", count: 65),
    ])
    func `what is no list is refused`(body: String) {
        let failure = #expect(throws: QueryFailure.self) { try list(body) }
        #expect(failure?.label == "malformed")
    }

    @Test func `a status that is no success is told`() {
        #expect(throws: QueryFailure.httpStatus(401)) { try list("ip:192.0.2.1", status: 401) }
    }

    @Test func `a list that says so is fetched anew before eight hours are over`() throws {
        func at(_ seconds: Int64) -> ServiceSchedule.Moment {
            ServiceSchedule.Moment(
                monotonic: Monotonic.zero.adding(seconds: seconds),
                wall: WallTime(secondsSince1970: 1_750_000_000 + seconds))
        }
        let server = Endpoint(address: try IPAddress("192.0.2.1"), port: .https)
        var schedule = ServiceSchedule(bootstrap: [server], stored: nil)
        _ = schedule.started(at(0))
        let saved = schedule.fetched(
            ServiceSchedule.ServiceList(servers: [server], freshSeconds: 3_600), at(0))
        #expect(schedule.plan(at(3_599)).1 == [])
        #expect(schedule.plan(at(3_600)).1 == [.fetch])
        guard case .save(let stored)? = saved.first else {
            Issue.record("nothing is saved")
            return
        }
        var next = ServiceSchedule(bootstrap: [server], stored: stored)
        #expect(next.plan(at(3_599)).1 == [])
        #expect(next.plan(at(3_600)).1 == [.fetch])
    }
}
