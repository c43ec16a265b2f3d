import HTTPDNSExchange
import TestSupport
import Testing

@testable import HTTPDNSTransport

@Suite(.timeLimit(.minutes(1))) struct HeadReaderTests {
    @Test func `a field folded ten thousands of times costs no more than its octets`()
        async throws
    {
        // Copied for each line, they would be 200 GB: far beyond the suite's time limit.
        let (folds, octets) = (10_000, 4_000)
        let isTaken = try await offPool {
            let piece = String(repeating: "x", count: octets)
            var reader = HeadReader(maximumOctets: 128 * 1_024 * 1_024)
            func read(_ line: [UInt8]) throws -> HeadReader.Outcome {
                try line.withUnsafeBytes { try reader.read(line: $0) }
            }
            _ = try read(Array("HTTP/1.1 200 OK\r\n".utf8))
            _ = try read(Array("X-Long: \(piece)\r\n".utf8))
            let fold = Array(" \(piece)\r\n".utf8)
            for _ in 0..<folds where try read(fold) != .more { return false }
            return true
        }
        #expect(isTaken)
    }

    // MARK: Where the body ends

    /// What a head of these lines leads to: the reader, or what it says is wrong.
    private static func reading(
        _ lines: [String], hasBody: Bool = true
    ) -> Result<HeadReader, TransportFailure> {
        var reader = HeadReader(maximumOctets: 65_536, hasBody: hasBody)
        reader.isCarriedByHTTP2 = lines.first?.hasPrefix("HTTP/2") == true
        do {
            for line in lines + [""] {
                _ = try Array((line + "\r\n").utf8).withUnsafeBytes { try reader.read(line: $0) }
            }
            return .success(reader)
        } catch {
            return .failure(error as? TransportFailure ?? .unexpected("\(error)"))
        }
    }

    private static func refusal(_ lines: [String], hasBody: Bool = true) -> String? {
        guard case .failure(.malformedResponse(let text)) = reading(lines, hasBody: hasBody) else {
            return nil
        }
        return text
    }

    @Test(arguments: [
        ["HTTP/1.1 200 OK", "Transfer-Encoding: xchunked"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: xchunked", "Content-Length: 9"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding:", " chunked"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "\t"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked;q=1"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: \"chunked\""],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked, gzip"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked, chunked"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "transfer-encoding: chunked"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: identity", "Content-Length: 5"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: identity"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding:"],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked\u{e9}"],
        ["HTTP/1.0 200 OK", "Transfer-Encoding: chunked"],
        ["HTTP/2 200", "transfer-encoding: chunked"],
        ["HTTP/2 204", "transfer-encoding: chunked"],
        ["HTTP/1.1 200 OK", "Content-Length:", " 5"],
        ["HTTP/1.1 200 OK", "Content-Length: 5", " "],
    ])
    func `framing that libcurl might read otherwise ends the exchange`(lines: [String]) {
        #expect(HeadReaderTests.refusal(lines)?.isEmpty == false, "\(lines)")
    }

    @Test func `what the server wrote of a coding is named, and cannot break a log`() throws {
        let long = String(repeating: "x", count: 500)
        let text = try #require(
            HeadReaderTests.refusal(["HTTP/1.1 200 OK", "Transfer-Encoding: \u{e9}\(long)"]))
        #expect(text.utf8.count < 400)
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    }

    @Test(
        arguments: [
            ("HTTP/1.1", "chunked", false), ("HTTP/1.1", "CHUNKED", false),
            ("HTTP/1.1", " \t chunked \t", false), ("HTTP/1.1", nil, true), ("HTTP/1.0", nil, true),
            ("HTTP/2", nil, false),
        ] as [(String, String?, Bool)])
    func `chunks by themselves are sure, and without framing the connection's end is the body's`(
        version: String, coding: String?, endsWithConnection: Bool
    ) throws {
        let field = coding.map { ["Transfer-Encoding:" + $0] } ?? []
        for others in [[], ["Connection: close"], ["X: a", " folded"]] {
            let reader = try HeadReaderTests.reading(["\(version) 200 OK"] + field + others).get()
            #expect(reader.isComplete)
            #expect(reader.endsWithConnection == endsWithConnection)
        }
        guard coding != nil else { return }
        // Source: RFC 9112 §6.3 rule 3: chunks count before a length.
        let both = ["\(version) 200 OK"] + field + ["Content-Length: 3"]
        #expect(try HeadReaderTests.reading(both).get().endsWithConnection == false)
    }

    @Test(arguments: [
        (["HTTP/1.1 204 No Content"], true), (["HTTP/1.1 304 Not Modified"], true),
        (["HTTP/1.1 200 OK"], false),
    ])
    func `a response without a body is not asked how one is framed`(
        start: [String], hasBody: Bool
    ) throws {
        for field in ["Transfer-Encoding: gzip, chunked", "X: y"] {
            let reader = try HeadReaderTests.reading(start + [field], hasBody: hasBody).get()
            #expect(reader.isComplete)
            #expect(!reader.endsWithConnection)
        }
    }

    @Test func `a change of protocol that nobody asked for ends the exchange`() {
        #expect(
            Self.refusal(["HTTP/1.1 101 Switching Protocols", "Upgrade: h2c"])?.contains("101")
                == true)
        #expect(Self.refusal(["HTTP/1.1 103 Early Hints"]) == nil)
    }

    @Test func `an interim head's framing is not the response's`() throws {
        let interim = [
            "HTTP/1.1 103 Early Hints", "Transfer-Encoding: gzip", "Content-Length:", " 5",
        ]
        let reader = try HeadReaderTests.reading(
            interim + ["", "HTTP/1.1 200 OK", "Content-Length: 2"]
        ).get()
        #expect(reader.isComplete)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK", "OK"), ("HTTP/1.1 200   two  words\t", "two  words"),
        ("HTTP/1.0 404 N\u{F6}", "N\u{F6}"), ("HTTP/1.1 200", nil), ("HTTP/1.1 200 ", nil),
        ("HTTP/1.1 200 a\u{1B}b", nil), ("HTTP/1.1 200 a\u{7F}", nil), ("HTTP/2 200 ", nil),
        ("HTTP/1.1 200 " + String(repeating: "x", count: 256), String(repeating: "x", count: 256)),
        ("HTTP/1.1 200 " + String(repeating: "x", count: 257), nil),
    ])
    func `the words beside a status are text, or none`(line: String, words: String?) throws {
        #expect(try Self.reading([line]).get().reason == words)
    }

    @Test func `interim heads that no final one ends are called what they are`() throws {
        let row = Array(repeating: ["HTTP/1.1 102 Processing", "X: y", ""], count: 999)
        let final = ["HTTP/1.1 200 OK"]
        #expect(try Self.reading(Array(row.joined()) + final).get().isComplete)
        let text = try #require(Self.refusal(Array((row + row).joined()) + final))
        #expect(text.hasPrefix("1000 interim responses (1xx) came"))
        let large = ["HTTP/1.1 103 Early Hints", "X: " + String(repeating: "x", count: 9_000), ""]
        let few = Array(repeating: large, count: 8).joined()
        #expect(Self.refusal(Array(few) + final)?.hasPrefix("7 interim responses") == true)
        // The limit is then that of another head.
        let (before, after) = (large.dropLast() + [""], ["HTTP/1.1 200 OK"])
        let rest = Array(repeating: large[1], count: 8)
        guard case .failure(.headTooLarge) = Self.reading(before + after + rest) else {
            Issue.record("not too large")
            return
        }
    }
}
