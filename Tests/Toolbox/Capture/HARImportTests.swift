import HTTPDNS
import HTTPDNSJSON
import TestSupport
import Testing

/// What the HAR files of other programs say beside the fields, and what they say wrongly.
@Suite struct HARImportTests {
    /// A file with one entry, members of which are replaced.
    private func file(
        start: String = "2027-01-31T12:00:00.000Z", content: String = #""mimeType":"x-unknown""#,
        entry: String = "", timings: String = #""send":0,"wait":1,"receive":1"#
    ) -> [UInt8] {
        let request =
            #"{"method":"GET","url":"http://a.test/","httpVersion":"HTTP/1.1","cookies":[],"#
            + #""headers":[],"queryString":[],"headersSize":90,"bodySize":0}"#
        let response =
            #"{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"#
            + #""headers":[],"content":{"size":0,\#(content)},"redirectURL":"","#
            + #""headersSize":200,"bodySize":50}"#
        return Array(
            (#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[{"#
                + #""startedDateTime":"\#(start)","time":2,"request":\#(request),"#
                + #""response":\#(response),"cache":{},"timings":{\#(timings)}\#(entry)}]}}"#).utf8)
    }

    private func again(_ octets: [UInt8]) throws -> JSONValue {
        let written = HARWriter.file(try HARReader(octets).records)
        let entry = try JSONValue.parse(written)["log"]?["entries"]?.array?.first
        return try #require(entry)
    }

    @Test func `a media type without a field stays`() throws {
        let entry = try again(file(content: #""mimeType":"image/png","text":"x""#))
        #expect(entry["response"]?["content"]?["mimeType"]?.string == "image/png")
        #expect(entry["response"]?["headers"]?.array == [])
        let none = try again(file())
        #expect(none["response"]?["content"]?["mimeType"]?.string == "x-unknown")
    }

    @Test func `a media type is kept in a capture, too`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/traffic.sqlite"
        let capture = Capture(CaptureConfiguration(path: path))
        let record = try #require(
            try HARReader(file(content: #""mimeType":"image/png","text":"x""#)).records.first)
        capture.add(record)
        await capture.close()
        let kept = try #require(try CaptureFile(path).record(1))
        #expect(kept.responseBody.mediaType == "image/png" && kept.hops == record.hops)
    }

    @Test func `addresses, connections and sizes stay`() throws {
        for address in ["192.0.2.7", "2001:db8::7"] {
            let entry = try again(
                file(entry: #","serverIPAddress":"\#(address)","connection":"4711""#))
            #expect(entry["serverIPAddress"]?.string == address)
            #expect(entry["connection"]?.string == "4711")
            #expect(entry["request"]?["headersSize"]?.integer == 90)
            #expect(entry["response"]?["headersSize"]?.integer == 200)
            #expect(entry["response"]?["bodySize"]?.integer == 50)
        }
        let record = try #require(try HARReader(file()).records.first)
        #expect(record.sentOctets == 90 && record.receivedOctets == 250)
    }

    @Test func `each part of the time stays`() throws {
        let parts = [
            ("blocked", 1.5), ("dns", 2.5), ("connect", 9.5), ("ssl", 4.5), ("send", 0.5),
            ("wait", 3.5), ("receive", 5.5),
        ]
        let text = parts.map { #""\#($0)":\#($1)"# }.joined(separator: ",")
        let entry = try again(file(timings: text))
        for (name, time) in parts {
            #expect(abs((entry["timings"]?[name]?.number ?? -1) - time) < 0.001, "\(name)")
        }
        #expect(abs((entry["time"]?.number ?? 0) - 23) < 0.001)
    }

    @Test(arguments: [
        ("2027-01-31T12:00:00.123456Z", "2027-01-31T12:00:00.123456Z"),
        ("2027-01-31T12:00:00.000007Z", "2027-01-31T12:00:00.000007Z"),
        ("2027-01-31T12:00:00.5+02:00", "2027-01-31T10:00:00.500Z"),
        ("2027-01-31T12:00:00+0200", "2027-01-31T10:00:00.000Z"),
        ("2027-01-31T12:00:00", "2027-01-31T12:00:00.000Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
    ])
    func `a start is kept to the microsecond`(told: String, written: String) throws {
        #expect(try again(file(start: told))["startedDateTime"]?.string == written)
    }

    @Test func `a start that HAR cannot write is the nearest that it can`() throws {
        for end in [Int64.min, .max] {
            var record = CaptureRecord.sample()
            record.startedAt = CaptureTime(microsecondsSince1970: end)
            let octets = HARWriter.file([record])
            #expect(try HARReader(octets).faults == [])
        }
    }

    @Test(arguments: [
        "2027-02-30T12:00:00Z", "2027-13-01T12:00:00Z", "yesterday", "",
        "2027-01-31T25:00:00Z", "2027-01-31T12:00:00+99:00", "0",
    ])
    func `an impossible time is an error that names the entry, and never 1970`(
        start: String
    ) async throws {
        let fault = #expect(throws: HARFault.self) { try HARReader(file(start: start)) }
        #expect(fault?.code == .malformed)
        #expect(
            fault?.description.contains("log.entries[0].startedDateTime") == true, "\(fault as Any)"
        )
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "x.har", String(decoding: file(start: start), as: UTF8.self))
        for verb in ["show", "stats", "har", "export"] {
            let result = try await CaptureTool.run("capture", verb, path)
            #expect(result.status == 2 && result.output.isEmpty, "\(verb)")
            #expect(result.errorText.contains("log.entries[0].startedDateTime"))
        }
        let judged = try await CaptureTool.run("capture", "har", path, "--check")
        #expect(judged.status == 1)
        #expect(judged.outputText.contains("log.entries[0].startedDateTime"))
    }

    @Test(arguments: ["####", "QUJ", "QQ=", "Q Q = = =", "QUJD\\u0000"])
    func `what is no base64 is told`(text: String) throws {
        let reader = try HARReader(
            file(content: #""mimeType":"","encoding":"base64","text":"\#(text)""#))
        let place = "log.entries[0].response.content.text"
        #expect(reader.faults.contains { $0.hasPrefix(place) }, "\(reader.faults)")
        #expect(reader.records.count == 1)
    }

    @Test func `base64 in lines is base64`() throws {
        let reader = try HARReader(
            file(content: #""mimeType":"","encoding":"base64","text":"QU\r\nJD""#))
        #expect(reader.faults == [])
        #expect(reader.records.first?.responseBody.text == "ABC")
    }
}
