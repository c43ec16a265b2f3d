import Foundation
import FoundationNetworking
import HTTPDNSNames
import HTTPDNSURLSession
import TestSupport

/// Tasks of every kind, for whoever watches what this process asks of the system.
struct Sessions {
    private let session: URLSession
    private let port: String

    init(port: String, rootFile: String) throws {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.overrides = [
            try HostName("shop.example.test"): [try IPAddress("127.0.0.1")]
        ]
        configuration.usesHostsFile = false
        configuration.trust = TrustPolicy(roots: .pem(try contents(of: rootFile)))
        let settings = URLSessionConfiguration.ephemeral
        settings.timeoutIntervalForRequest = 30
        session = try HTTPDNS(configuration).session(configuration: settings)
        self.port = port
    }

    func run() async throws {
        let body = Data(repeating: 0x61, count: 100_000)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "upload-\(getpid())")
        try body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var post = URLRequest(url: try page("/echo"))
        post.httpMethod = "POST"
        let posting = post
        await tell("data") { try await session.data(from: page("/moved")).0.count }
        await tell("upload") { try await session.upload(for: posting, from: body).0.count }
        await tell("file") { try await session.upload(for: posting, fromFile: file).0.count }
        await tell("download") {
            let got = try await session.download(from: page("/large")).0
            defer { try? FileManager.default.removeItem(at: got) }
            return try Data(contentsOf: got).count
        }
        await tell("nowhere") {
            try await session.data(from: page("/", host: "other.example.test")).0.count
        }
        await tell("away") { try await session.data(from: page("/away")).0.count }
    }

    private func page(_ path: String, host: String = "shop.example.test") throws -> URL {
        guard let url = URL(string: "https://\(host):\(port)\(path)") else {
            throw URLError(.badURL)
        }
        return url
    }

    private func tell(_ name: String, _ work: () async throws -> Int) async {
        do { say("\(name) \(try await work())") } catch {
            say("\(name) failed \((error as? URLError)?.errorCode ?? 0)")
        }
    }
}
