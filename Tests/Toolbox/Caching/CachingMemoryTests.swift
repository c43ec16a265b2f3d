import HTTPDNSPinLab
import TestSupport
import Testing

@Suite struct CachingMemoryTests {
    /// Because: the most that a session with a cache may take for a body of any size: what may wait
    /// for the disk, the reader's and the transport's buffers, and Foundation's copies, several
    /// times over.
    private static let growthKilobytes = 64_000

    @Test(.enabled(if: !Sanitizer.isOn))
    func `a session with a cache reads 200 MB in flat memory, sent and kept`() async throws {
        let lab = try CachingLab()
        let octets = 200 << 20
        let body = [UInt8](repeating: 0x61, count: octets)
        let server = try lab.origin { _ in
            LabResponse(fields: [LabField("Cache-Control", "max-age=600")], body: body)
        }
        defer { server.stop() }
        let root = try lab.directory.write("root.pem", lab.root.certificatePEM)
        let child = try ChildProcess(
            TestChild.path, ["large", "\(server.port)", root, lab.place])
        let lines = try await offPool {
            var lines: [[String]] = []
            while let line = child.readLine() {
                lines.append(line.split(separator: " ").map(String.init))
            }
            #expect(child.awaitEnd() == 0)
            return lines
        }
        #expect(lines.map { $0[0] } == ["start", "sent", "kept"])
        let start = try #require(lines.first.flatMap { Int($0[2]) })
        for line in lines.dropFirst() {
            #expect(line[1] == "\(octets)")
            let peak = try #require(Int(line[2]))
            #expect(peak - start < Self.growthKilobytes, "\(line[0]): \(peak - start) KB more")
        }
        #expect(server.count == 1)
    }
}
