import HTTPDNSExchange
import Testing

@testable import HTTPDNSTransport

@Suite(.timeLimit(.minutes(1))) struct HeadReaderTests {
    @discardableResult
    private func read(_ reader: inout HeadReader, _ line: String) throws -> HeadReader.Outcome {
        let octets = Array(line.utf8)
        return try octets.withUnsafeBytes { try reader.read(line: $0) }
    }

    @Test func `a field folded ten thousands of times costs no more than its octets`() throws {
        // Copied for each line, they would be 800 GB: far beyond the suite's time limit.
        let (folds, octets) = (20_000, 4_000)
        var reader = HeadReader(maximumOctets: 128 * 1_024 * 1_024)
        try read(&reader, "HTTP/1.1 200 OK\r\n")
        let piece = String(repeating: "x", count: octets)
        try read(&reader, "X-Long: \(piece)\r\n")
        for _ in 0..<folds { try read(&reader, " \(piece)\r\n") }
        guard case .final(_, _, let fields) = try read(&reader, "\r\n") else {
            Issue.record("no head")
            return
        }
        #expect(fields.first("X-Long")?.utf8.count == octets + folds * (octets + 1))
    }
}
