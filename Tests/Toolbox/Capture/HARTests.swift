import HTTPDNS
import HTTPDNSCapture
import HTTPDNSJSON
import TestSupport
import Testing

@Suite struct HARTests {
    private var chain: CaptureRecord {
        var record = CaptureRecord.sample("/one?a=b%20c&d=e+f", status: 302)
        record.hops[0].responseFields = [
            .init("Location", "/two"),
            .init(
                "Set-Cookie", "a=REDACTED; Path=/; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Secure"),
        ]
        record.hops[0].requestFields = [
            .init("Cookie", "x=1; y=2"), .init("Content-Type", "application/x-www-form-urlencoded"),
        ]
        record.hops[0].timings.connected = 1
        record.hops[0].timings.secured = 3
        record.hops[0].timings.firstByte = 7
        record.hops[0].timings.total = 8
        record.hops[0].resolveMilliseconds = 2
        record.hops[0].remote = "[2001:db8::1]:443"
        var second = CaptureRecord.sample("/two").hops[0]
        second.isReusedConnection = true
        second.timings.firstByte = 5
        second.timings.total = 6
        record.hops.append(second)
        record.requestBody = .init(Array("n=ann&p=1".utf8))
        record.responseBody = .init([0xFF, 0xFE, 0x00])
        record.id = 17
        record.initiator = .init("main", task: 3)
        record.rule = "fake"
        return record
    }

    private var failed: CaptureRecord {
        var record = CaptureRecord.sample("/\u{1F980}/</script>", status: nil)
        record.hops[0].responseFields = []
        record.hops[0].version = nil
        record.kind = .blocked
        record.failure = .init(label: "refused", message: "a rule refused it")
        record.id = 18
        return record
    }

    @Test func `what is written fits the schema and comes back as it was`() throws {
        let file = HARWriter.file([chain, failed])
        let value = try JSONValue.parse(file)
        #expect(HARSchema.faults(in: value) == [])
        let reader = try HARReader(file)
        #expect(reader.faults == [] && reader.creator == "httpdns 1")
        // A HAR file has milliseconds.
        var (first, second) = (chain, failed)
        first.startedAt = reader.records[0].startedAt
        second.startedAt = reader.records[1].startedAt
        #expect(
            abs(first.startedAt.microsecondsSince1970 - chain.startedAt.microsecondsSince1970)
                < 60_000_000)
        #expect(reader.records == [first, second])
    }

    @Test func `its members say what others look for`() throws {
        let value = try JSONValue.parse(HARWriter.file([chain]))
        let entries = try #require(value["log"]?["entries"]?.array)
        #expect(entries.count == 2)
        let first = entries[0]
        #expect(first["serverIPAddress"]?.string == "2001:db8::1")
        #expect(first["time"]?.number == 10)
        let timings = try #require(first["timings"])
        #expect(timings["dns"]?.number == 2 && timings["connect"]?.number == 3)
        #expect(timings["ssl"]?.number == 2 && timings["wait"]?.number == 4)
        #expect(timings["receive"]?.number == 1 && timings["blocked"]?.number == -1)
        #expect(entries[1]["timings"]?["connect"]?.number == -1)
        #expect(first["response"]?["redirectURL"]?.string == "/two")
        #expect(
            first["response"]?["cookies"]?.array?.first?["expires"]?.string
                == "2027-06-09T10:18:14.000Z")
        #expect(first["request"]?["cookies"]?.array?.count == 2)
        let query = try #require(first["request"]?["queryString"]?.array)
        #expect(query.map { $0["value"]?.string } == ["b c", "e f"])
        #expect(first["request"]?["postData"]?["params"]?.array?.count == 2)
        #expect(entries[1]["response"]?["content"]?["encoding"]?.string == "base64")
    }

    @Test(arguments: [
        ("{", "line 1, column 2"), ("[]", "no HAR"), ("{\"log\":[]}", "no HAR"),
        ("{\"log\":{}}", "entries"),
        ("{\"log\":{\"entries\":{}}}", "entries"), ("", "no text"),
        ("{\n\"log\": x}", "line 2, column 8"),
    ])
    func `what is no HAR says what and where`(text: String, word: String) {
        let fault = #expect(throws: HARFault.self) { try HARReader(Array(text.utf8)) }
        #expect(fault?.description.contains(word) == true, "\(fault as Any)")
    }

    @Test func `what breaks the format is read as far as it goes, and named`() throws {
        let text = """
            {"log":{"entries":[
              {"request":{"url":"https://a.test/x","method":"GET"}},
              {"request":{}}, 7, {"request":{"url":"https://b.test/","headers":[{"name":"A"},{"name":"B","value":"1"}]},
               "response":{"status":-1,"content":{"text":"!!","encoding":"base64","size":"many"}},
               "time":"fast","timings":{"wait":-1,"connect":1e999}}
            ]}}
            """
        let beyond = try HARReader(Array(text.utf8))
        #expect(beyond.records.count == 2)
        #expect(beyond.faults.contains { $0.contains("1e999 is beyond all numbers") })
        let reader = try HARReader(Array(text.replacing("1e999", with: "1e300").utf8))
        #expect(reader.records.map(\.url) == ["https://a.test/x", "https://b.test/"])
        #expect(reader.records[1].hops[0].requestFields == [.init("B", "1")])
        #expect(reader.records[1].status == nil && reader.records[1].failure != nil)
        #expect(reader.faults.contains("log: the member \"version\" is missing"))
        #expect(reader.faults.contains { $0.hasPrefix("log.entries[3].time: ") })
        _ = HARWriter.file(reader.records)
    }

    @Test func `a file as browsers write it becomes records to replay`() throws {
        let text = """
            {"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[],
            "entries":[{"_resourceType":"document","startedDateTime":"2023-03-30T00:00:54.253Z",
            "time":12.5,"request":{"method":"POST","url":"https://a.test/login","httpVersion":"http/2.0",
            "headers":[{"name":":authority","value":"a.test"}],"queryString":[],"cookies":[],
            "headersSize":-1,"bodySize":7,"postData":{"mimeType":"application/x-www-form-urlencoded",
            "params":[{"name":"a b","value":"ü"}]}},"response":{"status":200,"statusText":"",
            "httpVersion":"http/2.0","headers":[],"cookies":[],"content":{"size":5,
            "mimeType":"text/plain","text":"aGVs\\nbG8=","encoding":"base64"},"redirectURL":"",
            "headersSize":-1,"bodySize":-1},"cache":{},"timings":{"blocked":1,"dns":2,"ssl":3,
            "connect":5,"send":0.5,"wait":3,"receive":1},"serverIPAddress":"192.0.2.7"}]}}
            """
        let reader = try HARReader(Array(text.utf8))
        #expect(reader.faults == [] && reader.creator == "WebInspector 537.36")
        let record = try #require(reader.records.first)
        #expect(record.method == "POST" && record.status == 200 && record.totalMilliseconds == 12.5)
        #expect(record.responseBody.text == "hello" && record.requestBody.text == "a+b=%C3%BC")
        let hop = record.hops[0]
        #expect(hop.version == "2" && hop.remote == "192.0.2.7" && hop.resolveMilliseconds == 2)
        #expect(hop.timings.connected == 2 && hop.timings.secured == 5)
        #expect(hop.timings.firstByte == 8.5 && hop.timings.total == 9.5)
        #expect(record.startedAt.description == "2023-03-30T00:00:54.253Z")
    }

    @Test(arguments: [
        (
            "entry",
            ##"{"startedDateTime":"2015-02-10T07:33:17.146Z","time":1,"request":{},"##
                + ##""response":{},"cache":7,"timings":"x"}"##
        ),
        ("cookie", #"{"name":"a","value":"b","expires":null,"httpOnly":false}"#),
        (
            "cache",
            ##"{"beforeRequest":null,"afterRequest":{"lastAccess":"20150210T073317","##
                + ##""eTag":"","hitCount":1.0}}"##
        ),
        ("timings", #"{"send":0,"wait":0.5,"receive":-1,"x":[]}"#),
        ("postData", #"{"mimeType":"a","params":[1,{"x":2}]}"#),
        ("content", #"{"size":1e3,"mimeType":""}"#),
        (
            "page",
            ##"{"startedDateTime":"2015-02-10T07:33:17+0100","id":"","title":"","##
                + ##""pageTimings":{"onLoad":-1}}"##
        ),
    ])
    func `what the schema leaves open is allowed`(part: String, text: String) throws {
        var faults = try #require(HARSchema.faults(in: JSONValue.parse(text), as: part))
        faults.removeAll { $0.place.hasPrefix("request") || $0.place.hasPrefix("response") }
        #expect(faults == [])
    }

    @Test(arguments: [
        ("cookie", #"{"name":"a","value":"b","expires":"tomorrow"}"#),
        ("cookie", #"{"name":"a","value":"b","expires":"2015-02-10"}"#),
        ("cookie", #"{"name":"a","value":"b","expires":"2015-13-10T07:33:17Z"}"#),
        ("cache", #"{"beforeRequest":false}"#),
        ("cache", #"{"afterRequest":{"eTag":"","hitCount":1}}"#),
        ("afterRequest", #"{"lastAccess":"x","eTag":"","hitCount":1}"#),
        ("timings", #"{"send":0,"wait":0}"#), ("content", #"{"size":1.5,"mimeType":""}"#),
        (
            "page",
            #"{"startedDateTime":"2015-02-10T07:33:17.146","id":"","title":"","pageTimings":{}}"#
        ),
        ("entry", #"{"serverIPAddress":"example.com"}"#), ("entry", #"{"serverIPAddress":""}"#),
        ("entry", #"{"serverIPAddress":"[::1]"}"#), ("request", #"{"url":"a.test/x"}"#),
        ("request", #"{"url":"https://a.test/a b"}"#), ("creator", #"{"name":"a","version":1}"#),
        ("har", "[]"),
        ("log", #"{"version":"1.2","creator":{"name":"","version":""},"entries":{}}"#),
    ])
    func `what the schema forbids is found`(part: String, text: String) throws {
        let faults = try #require(HARSchema.faults(in: JSONValue.parse(text), as: part))
        #expect(!faults.isEmpty)
        if part == "entry" || part == "request" {
            #expect(faults.contains { $0.place == "serverIPAddress" || $0.place == "url" })
        }
    }

    @Test(arguments: [
        ("request", "method", #""GE\u0000T""#), ("request", "method", #""A B""#),
        ("request", "method", #""""#), ("request", "url", #""https://a.test/\u0007""#),
        ("request", "url", #""https://a.test/\u007f""#), ("request", "httpVersion", #""H\u001b""#),
        ("request", "bodySize", "-2"), ("request", "headersSize", "-7"),
        ("response", "status", "-1"), ("response", "status", "99"), ("response", "status", "600"),
        ("response", "status", "999"), ("response", "statusText", #""a\u0000""#),
        ("content", "size", "-5"), ("content", "encoding", #""rot13""#),
        ("entry", "time", "-1"), ("entry", "time", "-0.5"), ("timings", "wait", "-3"),
        ("timings", "dns", "-0.5"), ("pageTimings", "onLoad", "-2"),
        ("entry", "startedDateTime", #""2027-02-30T12:00:00Z""#),
        ("entry", "startedDateTime", #""2027-04-31T12:00:00Z""#),
        ("entry", "startedDateTime", #""2027-02-29T12:00:00Z""#),
        ("entry", "startedDateTime", #""2027-01-31T12:00:00+24:00""#),
        ("entry", "startedDateTime", #""2027-01-31T12:00:00+01:60""#),
        ("cookie", "expires", #""2026-02-29T00:00:00Z""#), ("log", "version", #""7""#),
        ("header", "name", #""a b""#), ("header", "name", #""""#),
        ("header", "value", #""a\rb""#), ("header", "value", #""a\u0000""#),
        ("afterRequest", "hitCount", "-1"),
    ])
    func `what the schema leaves open and HAR does not, the strict check finds`(
        part: String, member: String, text: String
    ) throws {
        let value = try JSONValue.parse("{\"\(member)\":\(text)}")
        let strict = try #require(HARSchema.faults(in: value, as: part, most: 50, isStrict: true))
        #expect(strict.contains { $0.place == member }, "\(strict)")
        let schema = try #require(HARSchema.faults(in: value, as: part, most: 50))
        #expect(!schema.contains { $0.place == member }, "\(schema)")
    }

    @Test(arguments: [
        ("request", "method", #""M-SEARCH""#), ("request", "url", #""https://a.test/ü""#),
        ("response", "status", "0"), ("response", "status", "599"), ("timings", "wait", "-1"),
        ("entry", "startedDateTime", #""2028-02-29T23:59:60.5-07:00""#),
        ("header", "name", #"":authority""#), ("header", "value", #""a=1\nb=2\t""#),
        ("log", "version", #""1.1""#), ("content", "encoding", #""base64""#),
    ])
    func `what browsers write and means something is allowed`(
        part: String, member: String, text: String
    ) throws {
        let value = try JSONValue.parse("{\"\(member)\":\(text)}")
        let strict = try #require(HARSchema.faults(in: value, as: part, most: 50, isStrict: true))
        #expect(!strict.contains { $0.place == member }, "\(strict)")
    }

    @Test func `faults of entries are named by their number, and stop at some time`() throws {
        let entry = "{\"time\":-1,\"request\":{\"url\":\"https://a.test/\"}}"
        let text =
            "{\"log\":{\"entries\":["
            + Array(repeating: entry, count: 40)
            .joined(separator: ",") + "]}}"
        let reader = try HARReader(Array(text.utf8))
        #expect(reader.records.count == 40 && reader.faults.count == HARReader.mostFaults)
        #expect(reader.faults.contains("log: the member \"version\" is missing"))
        #expect(reader.faults.contains { $0.hasPrefix("log.entries[1].time: -1 is not 0 or more") })
    }

    @Test func `reading says how far it is`() throws {
        let directory = try TemporaryDirectory()
        let records = (0..<50).map { CaptureRecord.sample("/\($0)") }
        let path = try directory.write(
            "x.har", String(decoding: HARWriter.file(records), as: UTF8.self))
        var shares: [Double] = []
        let reader = try HARReader(file: path) { shares.append($0) }
        #expect(reader.records.count == 50 && shares.count == 50)
        #expect(shares == shares.sorted() && shares.allSatisfy { $0 > 0 && $0 <= 1 })
        #expect((shares.last ?? 0) > 0.9)
    }

    @Test func `a part that nobody knows is no part`() {
        #expect(HARSchema.faults(in: [:], as: "nothing") == nil)
    }

    @Test func `a file too large is refused before it is read`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/huge.har"
        let made = try await run("truncate", ["-s", "300M", path])
        #expect(made.status == 0)
        let fault = #expect(throws: HARFault.self) { try HARReader(file: path) }
        #expect(fault?.description.contains("256 MiB") == true)
        let none = #expect(throws: HARFault.self) { try HARReader(file: directory.path + "/none") }
        #expect(none?.description.contains("none") == true)
    }

    @Test func `entries nested without end are refused`() {
        let text = "{\"log\":{\"entries\":" + String(repeating: "[", count: 100_000)
        #expect(throws: HARFault.self) { try HARReader(Array(text.utf8)) }
    }

    @Test func `a file with any octets changed is read or refused, and writes a HAR again`() throws
    {
        let sound = HARWriter.file([chain, failed])
        var generator = SplitMix(state: 11)
        var read = 0
        for round in 0..<600 {
            var octets = sound
            for _ in 0..<(1 + round % 5) {
                let at = Int(generator.next() % UInt64(octets.count))
                let other = sound[Int(generator.next() % UInt64(sound.count))]
                if round % 2 == 0 { octets[at] = other } else { octets.insert(other, at: at) }
            }
            guard let reader = try? HARReader(octets) else { continue }
            read += 1
            let again = try HARReader(HARWriter.file(reader.records))
            #expect(again.records.count <= reader.records.count)
            _ = CapturePage.page(reader.records, title: "x")
        }
        #expect(read > 100)
    }
}
