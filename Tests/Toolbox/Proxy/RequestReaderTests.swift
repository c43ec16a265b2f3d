import HTTPDNSExchange
import HTTPDNSRequestReading
import Testing

@Suite struct RequestReaderTests {
    /// What a reader makes of some octets, given in pieces of a size.
    struct Reading: Equatable {
        var heads: [ClientHead] = []
        var body: [UInt8] = []
        var ends = 0
        var breach: RequestBreach?
    }

    static func read(
        _ text: String, piece: Int, limits: RequestLimits = RequestLimits()
    ) -> Reading {
        read(Array(text.utf8), piece: piece, limits: limits)
    }

    static func read(
        _ octets: [UInt8], piece: Int, limits: RequestLimits = RequestLimits()
    ) -> Reading {
        var reading = Reading()
        guard let reader = RequestReader(limits) else { return reading }
        var pending: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: piece) {
            pending += octets.dropFirst(start).prefix(piece)
            while reading.breach == nil {
                let (taken, step) = pending.withUnsafeBytes { reader.read($0) }
                pending.removeFirst(taken)
                reading.body += reader.takeBody()
                switch step {
                case .more: break
                case .end:
                    reading.ends += 1
                    continue
                case .broken(let breach):
                    reading.breach = breach
                    continue
                case .head:
                    do throws(RequestBreach) { reading.heads.append(try reader.head()) } catch {
                        reading.breach = error
                    }
                    continue
                }
                break
            }
        }
        return reading
    }

    private static let start = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"

    @Test(arguments: [1, 2, 3, 7, 64, 100_000])
    func `a request is the same in whatever pieces it comes`(piece: Int) {
        let text =
            RequestReaderTests.start + "X-Empty:\r\nX-Blank:  a b \t\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nT: x\r\n\r\n"
            + "GET http://b.test/?q HTTP/1.0\r\n\r\n"
        let reading = RequestReaderTests.read(text, piece: piece)
        #expect(reading.breach == nil)
        #expect(reading.ends == 2)
        #expect(String(decoding: reading.body, as: UTF8.self) == "hello world")
        #expect(reading.heads.map(\.method) == ["POST", "GET"])
        #expect(reading.heads.map(\.target) == ["http://a.test/", "http://b.test/?q"])
        #expect(reading.heads.map(\.minorVersion) == [1, 0])
        #expect(reading.heads.first?.fields.first("X-Blank") == "a b")
        #expect(reading.heads.first?.fields.first("X-Empty") == "")
        #expect(reading.heads.first?.isReadChunked == true)
        #expect(reading.heads.last?.fields.fields.isEmpty == true)
    }

    @Test(arguments: [1, 100_000])
    func `behind the head of CONNECT nothing is read`(piece: Int) {
        let reading = RequestReaderTests.read(
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", piece: piece)
        #expect(reading.heads.map(\.target) == ["a.test:443"])
        #expect(reading.ends == 1)
        #expect(reading.breach == nil)
    }

    @Test(arguments: [1, 5, 100_000])
    func `a body has the length that was said`(piece: Int) {
        let reading = RequestReaderTests.read(
            RequestReaderTests.start
                + "Content-Length: 5\r\n\r\nhelloGET http://b.test/ HTTP/1.1\r\n"
                + "Host: b\r\n\r\n", piece: piece)
        #expect(reading.body == Array("hello".utf8))
        #expect(reading.heads.map(\.readLength) == [5, nil])
        #expect(reading.ends == 2)
    }

    /// The forms by which one request is hidden inside another.
    static let smuggled: [(String, RequestBreach)] = [
        ("POST http://a.test/ HTTP/1.1\nHost: a.test\n\n", .bareLineFeed),
        (start + "X: a\n\r\n", .bareLineFeed),
        (start + "X: a\r\n\n", .bareLineFeed),
        (start + "X: a\r\n b\r\n\r\n", .foldedField),
        (start + "X: a\r\n\tContent-Length: 3\r\n\r\n", .foldedField),
        (start + "Content-Length : 5\r\n\r\n", .badField),
        (start + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", both),
        (start + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", both),
        (start + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", both),
        (start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", both),
        (chunked + "5\r\nhelloXX0\r\n\r\n", .badChunk),
        (chunked + "5\r\nhello\n\n0\r\n\r\n", .badChunk),
        (chunked + "5\rXhello\r\n0\r\n\r\n", .badChunk),
        (chunked + "5;a\nb\r\nhello\r\n0\r\n\r\n", .bareLineFeed),
        (chunked + "0\r\nT: a\n\r\n", .bareLineFeed),
        (chunked + "0\r\n\rX", .badChunk),
        (chunked + "0\r\nT: a\r\n\rX", .badChunk),
        (start + "\rX", .bareLineFeed),
        (chunked + "0\r\nT: a\r\n b\r\n\r\n", .foldedField),
    ]

    private static let both = RequestBreach.notHTTP("HPE_UNEXPECTED_CONTENT_LENGTH")
    private static let chunked = start + "Transfer-Encoding: chunked\r\n\r\n"

    @Test(arguments: smuggled.indices, [1, 100_000])
    func `what could hide a request is refused`(index: Int, piece: Int) {
        let (text, breach) = RequestReaderTests.smuggled[index]
        let reading = RequestReaderTests.read(text, piece: piece)
        #expect(reading.breach == breach, "\(text.debugDescription)")
        #expect(reading.heads.count <= 1)
        #expect(reading.ends == 0)
    }

    @Test(arguments: [
        "Content-Length: +5\r\n\r\n", "Content-Length: 5x\r\n\r\n", "X: a\rb\r\n\r\n",
        "X: a\0b\r\n\r\n", ": a\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-5\r\n", "Transfer-Encoding: chunked\r\n\r\n0x5\r\n",
        "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n5\r\n",
    ])
    func `what is no request is none`(rest: String) {
        let reading = RequestReaderTests.read(RequestReaderTests.start + rest, piece: 1)
        #expect(reading.breach != nil)
        #expect(reading.ends == 0)
    }

    @Test(arguments: [[0xFF, 0xFE], [0xC3, 0xA9], [0xE9]] as [[UInt8]])
    func `a value keeps its octets, UTF-8 or not; a name that is none is refused`(value: [UInt8]) {
        // Cookies of sites in Latin-1 and GBK pass as they came.
        let start = Array(RequestReaderTests.start.utf8)
        let end = Array("\r\n\r\n".utf8)
        let reading = RequestReaderTests.read(
            start + Array("Cookie: n=".utf8) + value + end, piece: 1)
        #expect(reading.breach == nil)
        #expect(
            reading.heads.first?.fields.texts("Cookie").map(\.wire) == [Array("n=".utf8) + value])
        let named = RequestReaderTests.read(start + value + Array(": x".utf8) + end, piece: 1)
        #expect(named.breach != nil)
        #expect(named.heads.isEmpty)
    }

    @Test func `each part of a request has a bound`() {
        var limits = RequestLimits()
        limits.headOctets = 200
        limits.targetOctets = 40
        limits.fieldCount = 3
        limits.chunkLineOctets = 10
        let breach = { (text: String) in
            RequestReaderTests.read(text, piece: 1, limits: limits).breach
        }
        #expect(breach("GET /" + String(repeating: "a", count: 300)) == .targetTooLong)
        #expect(
            breach("GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 300)) == .headTooLarge)
        #expect(breach("GET / HTTP/1.1\r\nA: 1\r\nA: 1\r\nA: 1\r\nA: 1\r\n") == .tooManyFields)
        #expect(breach(String(repeating: "\r\n", count: 200)) == .headTooLarge)
        let chunked = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(breach(chunked + "1;" + String(repeating: "a", count: 30)) == .badChunk)
        #expect(breach(chunked + "0\r\nT: " + String(repeating: "a", count: 300)) == .headTooLarge)
    }

    @Test func `other protocols are told from unknown methods`() {
        #expect(
            RequestReaderTests.read("\u{16}\u{3}\u{1}", piece: 1).breach == .notHTTP("no method"))
        #expect(RequestReaderTests.read("FROB / HTTP/1.1\r\n", piece: 1).breach == .unknownMethod)
        #expect(
            RequestReaderTests.read("GET / HTTP/2.0\r\nA: b\r\n\r\n", piece: 1).breach
                == .unknownVersion)
    }

    @Test func `no octets of chance bring it down, and it reads nothing behind a breach`() {
        var generator = SystemRandomNumberGenerator()
        let seeds = RequestReaderTests.smuggled.map { Array($0.0.utf8) }
        for round in 0..<4_000 {
            var octets = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<octets.count, using: &generator)
                octets[place] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let reader = RequestReader(RequestLimits()) else { continue }
            var rest = octets[...]
            var broken: RequestReader.Step?
            while !rest.isEmpty {
                let (taken, step) = rest.withUnsafeBytes { reader.read($0) }
                if let broken { #expect(step == broken && taken == 0) }
                if case .broken = step {
                    if broken != nil { break }
                    broken = step
                }
                rest = rest.dropFirst(taken)
                if step == .more { break }
            }
        }
    }
}
