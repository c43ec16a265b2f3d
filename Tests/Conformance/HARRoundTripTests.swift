import HTTPDNSCapture
import HTTPDNSJSON
import Testing

/// What comes of HAR files of browsers and proxies that are read and written again.
@Suite struct HARRoundTripTests {
    @Test(.enabled(if: Vectors.arePresent, "there is no ../shared/conformance"))
    func `a file that is read and written says what it said`() async throws {
        var entries = 0
        for line in try await Vectors.lines("har") {
            let request = try JSONValue.parse(line, maximumOctets: 64 << 20)
            guard let document = request["doc"], document["log"]?["entries"]?.array != nil else {
                continue
            }
            let name = request["id"]?.string ?? ""
            let first = try HARReader(document)
            let octets = HARWriter.file(first.records)
            let written = try JSONValue.parse(octets, maximumOctets: 64 << 20)
            #expect(HARSchema.faults(in: written, isStrict: true) == [], "\(name)")
            let before = document["log"]?["entries"]?.array ?? []
            let after = written["log"]?["entries"]?.array ?? []
            try #require(before.count == after.count, "\(name)")
            for (place, (old, new)) in zip(before, after).enumerated() {
                compare(old, new, "\(name)[\(place)]")
                entries += 1
            }
            // Once more, and nothing is lost any longer.
            let second = try HARReader(octets)
            #expect(second.faults == [] && second.records.count == first.records.count)
            let again = try JSONValue.parse(
                HARWriter.file(second.records), maximumOctets: 64 << 20)
            #expect(difference(written, again, "") == nil, "\(name)")
        }
        #expect(entries > 50)
    }

    /// The first place where two texts differ; times by more than a hundredth of a millisecond.
    private func difference(_ one: JSONValue, _ other: JSONValue, _ place: String) -> String? {
        if let one = one.number, let other = other.number {
            return abs(one - other) < 0.01 ? nil : place
        }
        if let ones = one.array, let others = other.array, ones.count == others.count {
            return zip(ones, others).lazy.compactMap { difference($0, $1, place + "[]") }.first
        }
        guard let ones = one.object?.members, let others = other.object?.members,
            ones.map(\.name) == others.map(\.name)
        else { return one == other ? nil : place }
        return zip(ones, others).lazy.compactMap {
            difference($0.value, $1.value, place + "." + $0.name)
        }.first
    }

    private func compare(_ old: JSONValue, _ new: JSONValue, _ place: String) {
        let start = { (entry: JSONValue) in
            entry["startedDateTime"]?.string.flatMap { CaptureTime($0) }
        }
        #expect(start(old) == start(new), "\(place)")
        for path in Self.texts {
            let text = value(old, path)?.string ?? ""
            guard !text.isEmpty else { continue }
            #expect(value(new, path)?.string == text, "\(place).\(path)")
        }
        for path in Self.lists { #expect(pairs(old, path) == pairs(new, path), "\(place).\(path)") }
        let status = old["response"]?["status"]?.integer ?? 0
        #expect(new["response"]?["status"]?.integer == max(0, status), "\(place)")
        for path in Self.sizes {
            guard let size = value(old, path)?.integer, size >= 0 else { continue }
            #expect(value(new, path)?.integer == size, "\(place).\(path)")
        }
        compareTimings(old["timings"], new["timings"], place)
        compareBody(old, new, place)
    }

    private func compareTimings(_ old: JSONValue?, _ new: JSONValue?, _ place: String) {
        for name in ["blocked", "dns", "ssl", "send", "wait", "receive"] {
            guard let time = old?[name]?.number, time > 0 else { continue }
            #expect(abs((new?[name]?.number ?? -1) - time) < 0.01, "\(place).timings.\(name)")
        }
        guard let connect = old?["connect"]?.number, connect > 0 else { return }
        // TLS is a part of it; where a program counts it beside, both are in it.
        let ssl = old?["ssl"]?.number ?? 0
        let whole = connect < ssl ? connect + ssl : connect
        #expect(abs((new?["connect"]?.number ?? -1) - whole) < 0.01, "\(place).timings.connect")
    }

    private func compareBody(_ old: JSONValue, _ new: JSONValue, _ place: String) {
        let text = old["response"]?["content"]?["text"]?.string ?? ""
        guard !text.isEmpty, old["response"]?["content"]?["encoding"] == nil else { return }
        #expect(new["response"]?["content"]?["text"]?.string == text, "\(place).content.text")
    }

    private func value(_ entry: JSONValue, _ path: String) -> JSONValue? {
        path.split(separator: ".").reduce(entry) { value, name in value?[String(name)] }
    }

    private func pairs(_ entry: JSONValue, _ path: String) -> [[String]] {
        (value(entry, path)?.array ?? []).map {
            [$0["name"]?.string ?? "", $0["value"]?.string ?? ""]
        }
    }

    private static let texts = [
        "request.method", "request.url", "request.postData.mimeType", "request.postData.text",
        "response.statusText", "response.content.mimeType", "response.redirectURL",
        "serverIPAddress", "connection",
    ]
    private static let lists = ["request.headers", "response.headers"]
    private static let sizes = ["request.headersSize", "response.headersSize"]
}
