import Foundation
import FoundationNetworking
import HTTPDNSURLSession
import TestSupport

/// Async calls that fail as they begin, each cancelled while it does.
struct Storm {
    private let session: URLSession

    init() throws {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.usesHostsFile = false
        session = try HTTPDNS(configuration).session(configuration: .ephemeral)
    }

    /// How many calls failed; none gets as far as to send anything.
    func run(_ count: Int) async throws -> Int {
        guard let url = URL(string: "http://shop.example.test/") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        // No method: a token has no blank.
        request.httpMethod = "GE T"
        let unsendable = request
        return await withTaskGroup(of: Bool.self, returning: Int.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let call = Task { try await session.data(for: unsendable) }
                    for _ in 0..<Int.random(in: 0..<40) { await Task.yield() }
                    call.cancel()
                    if case .failure = await call.result { return true }
                    return false
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }
}
