import HTTPDNS
import HTTPDNSCapture
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// What a record says of an answer's words and of its connection, wherever it is read from.
@Suite(.timeLimit(.minutes(2))) struct LiveEntryTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    private struct Seen: Equatable {
        let status: String
        let words: String
        let connection: String
    }

    /// Answers with words of its own, and closes then; on `/usual` as others do.
    private func origin(speaksHTTP2: Bool = false) throws -> LabServer {
        let leaf = try lab.root.leaf([.dns(CaptureLab.host)])
        var features = LabTLSFeatures()
        features.speaksHTTP2 = speaksHTTP2
        let origin = try LabServer(
            address: LabAddress.ipv4, security: .tls(leaf, features: features)
        ) { request in
            let words = [
                "/own": " Fine, password=hunter2 ", "/none": "", "/blank": "   ",
                "/control": " a\u{1B}[31mb", "/latin": " d\u{E9}j\u{E0} vu",
            ]
            guard let words = words[request.path] else { return .text("usual") }
            return LabResponse().conducting(
                .writes(Array("HTTP/1.1 203\(words)\r\nContent-Length: 2\r\n\r\nok".utf8)))
        }
        try origin.start()
        return origin
    }

    @Test func `words and connection are the same in the ring, the file, HAR and the page`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let capture = Capture(CaptureConfiguration(path: lab.path, ringRecords: 100))
        let httpdns = try lab.httpdns(capture)
        for path in ["/usual", "/usual", "/own", "/none", "/blank", "/control", "/latin"] {
            try await httpdns.client.text(HTTPRequest(.get, try lab.url(origin, path)))
        }
        let hops = await capture.all.map(\.hops[0])
        #expect(
            hops.map(\.statusText) == [
                "OK", "OK", "Fine, password=REDACTED", nil, nil, nil, "d\u{E9}j\u{E0} vu",
            ])
        let connections = hops.compactMap(\.connection)
        #expect(connections.count == hops.count)
        #expect(connections.allSatisfy { Port($0) != nil })
        // One name for each connection, and each connection its own.
        let made = origin.record.requests.map(\.connection)
        #expect(made.count == hops.count)
        for (one, name) in zip(made, connections) {
            for (other, otherName) in zip(made, connections) {
                #expect((one == other) == (name == otherName))
            }
        }
        #expect(hops[1].isReusedConnection)
        await capture.close()

        let seen = hops.map {
            Seen(
                status: "\($0.status ?? 0)", words: $0.statusText ?? "",
                connection: $0.connection ?? "")
        }
        let har = lab.directory.path + "/x.har"
        #expect(try await CaptureTool.run("capture", "har", lab.path, "-o", har).status == 0)
        #expect(try await CaptureTool.run("capture", "har", har, "--check").status == 0)
        for file in [lab.path, har] {
            let lines = try await CaptureTool.run("capture", "export", file).documents
            #expect(lines.map { LiveEntryTests.seen($0["hops"]?.array?.first) } == seen)
            let again = try await CaptureTool.run("capture", "export", file, "--format", "har")
            let entries = try JSONValue.parse(again.outputText)["log"]?["entries"]?.array ?? []
            #expect(
                entries.map { entry in
                    Seen(
                        status: "\(entry["response"]?["status"]?.integer ?? 0)",
                        words: entry["response"]?["statusText"]?.string ?? "-",
                        connection: entry["connection"]?.string ?? "-")
                } == seen)
            let shown = try await CaptureTool.run("capture", "show", file, "3").outputText
            #expect(shown.contains("  < HTTP/1.1 203 Fine, password=REDACTED\n"))
            #expect(shown.contains(", connection \(seen[2].connection)"))
            let page = try await CaptureTool.run("capture", "export", file, "--html").outputText
            for connection in connections {
                #expect(page.contains("\"connection\":\"\(connection)\""))
            }
            #expect(!page.contains("hunter2"))
        }
    }

    private static func seen(_ hop: JSONValue?) -> Seen {
        Seen(
            status: "\(hop?["status"]?.integer ?? 0)",
            words: hop?["statusText"]?.string ?? "", connection: hop?["connection"]?.string ?? "")
    }

    @Test func `HTTP/2 has no words, and requests at once one connection`() async throws {
        let origin = try origin(speaksHTTP2: true)
        defer { origin.stop() }
        let capture = lab.ring()
        let httpdns = try lab.httpdns(capture)
        let url = try lab.url(origin, "/usual")
        try await httpdns.client.text(HTTPRequest(.get, url))
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask { _ = try await httpdns.client.text(HTTPRequest(.get, url)) }
            }
            try await group.waitForAll()
        }
        let hops = await capture.all.map(\.hops[0])
        #expect(hops.map(\.version) == ["2", "2", "2", "2"])
        #expect(hops.allSatisfy { $0.statusText == nil })
        #expect(Set(hops.map(\.connection)).count == 1)
        #expect(hops.first?.connection != nil)
        #expect(origin.record.connections == 1)
    }

    @Test func `what went over no connection names none`() async throws {
        let capture = lab.ring()
        let httpdns = try lab.httpdns(capture)
        let dead = try closedPort(address: LabAddress.ipv4)
        let url = try HTTPURL("http://\(CaptureLab.host):\(dead)/")
        await #expect(throws: ExchangeFailure.self) {
            try await httpdns.client.text(HTTPRequest(.get, url))
        }
        let hop = try #require(await capture.all.first?.hops.first)
        #expect(hop.connection == nil)
        #expect(hop.statusText == nil)
    }
}
