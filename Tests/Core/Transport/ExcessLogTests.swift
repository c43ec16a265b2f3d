import Testing

@testable import HTTPDNSTransport

@Suite struct ExcessLogTests {
    private func tells(_ line: String) -> Bool {
        Array(line.utf8).withUnsafeBytes { ExcessLog.tells($0) }
    }

    @Test(arguments: [
        "Excess found: excess = 5 url = /a (zero-length body)\n",
        "Excess found in a read: excess = 2, size = 5, maxdownload = 5, bytecount = 0",
        "Leftovers after chunking: 12 bytes\n",
    ])
    func `octets behind a response are found`(line: String) { #expect(tells(line)) }

    @Test(arguments: [
        "", "E", "L", "Excess", "Expire in 0 ms", "Leftovers", "< Excess found: 1",
        "Connection #0 to host r1.invalid left intact",
    ])
    func `other words count for nothing`(line: String) { #expect(!tells(line)) }
}
