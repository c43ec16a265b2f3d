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
}
