import Foundation
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// What a process that uses sessions asks of the system, as strace sees it.
@Suite(.timeLimit(.minutes(2))) struct SystemCallTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private func origin() throws -> LabServer {
        try lab.origin { request in
            switch request.path {
            case "/moved": .redirect(to: "/large")
            case "/large": LabResponse(body: [UInt8](repeating: 1, count: 300_000))
            case "/away": .redirect(to: "https://other.example.test/")
            default: LabResponse(body: request.body)
            }
        }
    }

    @Test func `no resolver file is opened and no address dialled that nobody planned`()
        async throws
    {
        let origin = try origin()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let root = directory.path + "/root.pem"
        let trace = directory.path + "/trace"
        try directory.write("root.pem", lab.lab.root.certificatePEM)
        let ended = try await run(
            "strace",
            [
                "-f", "-qq", "-e", "trace=open,openat,connect,sendto,sendmsg,sendmmsg", "-o", trace,
                TestChild.path, "sessions", "\(origin.port)", root,
            ])
        #expect(
            ended.outputText.split(separator: "\n") == [
                "data 300000", "upload 100000", "file 100000", "download 300000",
                "nowhere failed -1006", "away failed -1006",
            ], "\(ended.errorText)")
        let lines = try contents(of: trace).split(separator: "\n")
        // It was watched: the upload's file and the connections are there.
        #expect(lines.contains { $0.contains("/upload-") })
        let opened = lines.filter { $0.contains("open") }
        for file in ["resolv.conf", "/etc/hosts", "nsswitch", "gai.conf", "host.conf"] {
            #expect(opened.filter { $0.contains(file) } == [], "\(file)")
        }
        let dialled = lines.filter { $0.contains("connect(") || $0.contains("sin_port") }
        #expect(!dialled.isEmpty)
        let planned = "sin_port=htons(\(origin.port)), sin_addr=inet_addr(\"127.0.0.1\")"
        #expect(dialled.filter { !$0.contains(planned) } == [])
        #expect(lines.filter { $0.contains("AF_INET6") || $0.contains("AF_UNIX") } == [])
    }
}
