import HTTPDNS
import HTTPDNSCapture
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What an entry of a HAR file says of times and sizes adds up, also where a request failed.
@Suite struct HARTimesTests {
    private func entry(_ record: CaptureRecord) throws -> JSONValue {
        let file = try JSONValue.parse(HARWriter.file([record]))
        return try #require(file["log"]?["entries"]?.array?.last)
    }

    private func times(_ entry: JSONValue) -> [String: Double] {
        var times: [String: Double] = [:]
        for name in ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"] {
            let time = entry["timings"]?[name]?.number ?? -1
            if time >= 0 { times[name] = time }
        }
        return times
    }

    private func isSum(_ entry: JSONValue) -> Bool {
        let parts = times(entry).filter { $0.key != "ssl" }.values.reduce(0, +)
        return abs(parts - (entry["time"]?.number ?? -1)) < 0.001
    }

    private func failed(
        after milliseconds: Double, change: (inout CaptureRecord.Hop) -> Void
    ) -> CaptureRecord {
        var record = CaptureRecord.sample("/", status: nil)
        record.hops[0].resolution = .init(
            resolver: "one", transport: "udp", addresses: ["127.0.0.1"], ttlSeconds: 5)
        record.hops[0].resolveMilliseconds = 0.5
        change(&record.hops[0])
        record.totalMilliseconds = milliseconds
        record.failure = .init(label: "timed_out", message: "nothing came")
        return record
    }

    @Test func `a handshake without an end lasts until the failure`() throws {
        let entry = try entry(failed(after: 3_000) { _ in })
        let times = times(entry)
        #expect(entry["time"]?.number == 3_000 && isSum(entry))
        #expect(times["connect"] == 2_999.5 && times["wait"] == 0 && times["dns"] == 0.5)
        let known = try self.entry(
            failed(after: 3_000) {
                $0.timings.total = 2_999.5
                $0.timings.connected = 1.5
            })
        #expect(self.times(known)["ssl"] == 2_998 && self.times(known)["connect"] == 2_999.5)
        #expect(isSum(known))
    }

    @Test func `a wait and a body without an end do, too`() throws {
        let waiting = try entry(
            failed(after: 2_000) {
                $0.timings.connected = 1
                $0.timings.secured = 3
                $0.timings.total = 250
            })
        #expect(times(waiting)["wait"] == 1_996.5 && isSum(waiting))
        #expect(waiting["time"]?.number == 2_000)
        let receiving = try entry(
            failed(after: 1_000) {
                $0.status = 200
                $0.timings.connected = 1
                $0.timings.secured = 3
                $0.timings.firstByte = 10
                $0.timings.total = 250
            })
        #expect(times(receiving)["receive"] == 989.5 && times(receiving)["wait"] == 7)
        #expect(receiving["time"]?.number == 1_000 && isSum(receiving))
    }

    @Test func `so does a lookup`() throws {
        let entry = try entry(
            failed(after: 40) {
                $0.resolution = nil
                $0.resolveMilliseconds = 30
            })
        #expect(times(entry)["dns"] == 40 && entry["time"]?.number == 40)
    }

    @Test(arguments: [("hit", 200), ("unsatisfied", 504)])
    func `what a cache answered was waited for`(outcome: String, status: Int) throws {
        var record = CaptureRecord.sample("/", status: status, body: Array("kept".utf8))
        record.kind = outcome == "hit" ? .cached : .exchange
        record.hops[0].cache = outcome
        record.hops[0].receivedOctets = 0
        let entry = try entry(record)
        #expect(entry["time"]?.number == 12.5 && times(entry)["wait"] == 12.5 && isSum(entry))
        #expect(entry["response"]?["bodySize"]?.integer == 0)
    }

    struct Sizes: Sendable {
        var fields: [(String, String)] = []
        var method = "GET"
        var status = 200
        let received: Int64
        var saved: Int64?
    }

    @Test(arguments: [
        Sizes(received: 100), Sizes(fields: [("Content-Length", "100")], received: 100),
        Sizes(
            fields: [("Content-Encoding", "gzip"), ("Content-Length", "30")], received: 30,
            saved: 70),
        Sizes(fields: [("Content-Encoding", "gzip")], received: -1),
        Sizes(fields: [("Content-Encoding", "br"), ("Content-Length", "+3")], received: -1),
        Sizes(fields: [("Content-Length", "100")], method: "HEAD", received: 0),
        Sizes(status: 304, received: 0),
    ])
    func `sizes are told where they are known`(sizes: Sizes) throws {
        let hasBody = sizes.received != 0
        var record = CaptureRecord.sample(
            "/", status: sizes.status, body: [UInt8](repeating: 0x61, count: hasBody ? 100 : 0))
        record.hops[0].method = sizes.method
        record.hops[0].responseFields += sizes.fields.map { .init($0.0, $0.1) }
        let response = try entry(record)["response"]
        #expect(response?["bodySize"]?.integer == sizes.received)
        #expect(response?["content"]?["compression"]?.integer == sizes.saved)
    }

    @Test func `a fragment is none of a request, and is told where a file has one`() throws {
        let record = CaptureRecord.sample("/x?a=b#part")
        let written = try entry(record)
        #expect(written["request"]?["url"]?.string == "https://shop.example.test/x?a=b")
        let again = try HARReader(HARWriter.file([record]))
        #expect(again.records.first?.url == record.url && again.faults == [])
        let file = String(decoding: HARWriter.file([record]), as: UTF8.self)
            .replacing(
                #""url":"https://shop.example.test/x?a=b","httpVersion""#,
                with: #""url":"https://shop.example.test/x?a=b#part","httpVersion""#)
        let faults = try HARReader(Array(file.utf8)).faults
        #expect(faults.count == 1 && faults[0].hasPrefix("log.entries[0].request.url"))
        let value = try JSONValue.parse(file)
        #expect(HARSchema.faults(in: value) == [])
    }
}
