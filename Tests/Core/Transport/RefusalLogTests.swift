import Testing

@testable import HTTPDNSTransport

@Suite struct RefusalLogTests {
    private func isRefused(_ lines: [String]) -> Bool {
        var log = RefusalLog()
        for line in lines { log.read(Array(line.utf8)[...]) }
        return log.isRefused
    }

    @Test(arguments: [
        ["REFUSED_STREAM, retrying a fresh connect\n"],
        ["Using Stream ID: 3 (easy handle 0x1)\n", "recveived GOAWAY, error=0, last_stream=1\n"],
        ["[HTTP/2] [5] OPENED stream for https://a/\n", "received GOAWAY, error=2, last_stream=3"],
    ])
    func `the peer's word is found`(lines: [String]) { #expect(isRefused(lines)) }

    @Test(arguments: [
        [], ["Connection died, retrying a fresh connect (retry count: 1)\n"],
        ["recveived GOAWAY, error=0, last_stream=1\n"],
        ["Using Stream ID: 1 (easy handle 0x1)\n", "recveived GOAWAY, error=0, last_stream=1\n"],
        ["Using Stream ID: 3\n", "recveived GOAWAY, error=0, last_stream=\n"],
        ["Using Stream ID: 99999999999\n", "recveived GOAWAY, error=0, last_stream=1\n"],
        ["< x: REFUSED_STREAM\n"], ["Using Stream ID: "], [""],
    ])
    func `what is no such word counts for nothing`(lines: [String]) { #expect(!isRefused(lines)) }
}
