import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// The first thing that every tutorial on `URLProtocol` shows: a custom protocol that replaces the
/// images of a page by one of one's own, and answers a service with test data.
@Suite(.timeLimit(.minutes(2))) struct ImageReplacementTests {
    private static let cat = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xCA, 0x07])
    private static let page = """
        <h1>Dogs</h1><img src="/dog.jpg"><img src="/photos/dog.GIF?size=2"><img src="/logo.svg">
        """

    /// Loads a page and what it shows, as a reader would.
    private func load(_ base: String, _ session: URLSession) async throws -> [String: RuledAnswer] {
        let page = try await session.answer(base + "/")
        var seen = ["/": page]
        for piece in page.text.components(separatedBy: "src=\"").dropFirst() {
            let source = String(piece.prefix { $0 != "\"" })
            seen[source] = try await session.answer(base + source)
        }
        return seen
    }

    @Test func `a page is the site's own, and all of its pictures are cats`() async throws {
        let lab = try RuleLab()
        let origin = try lab.origin { request in
            request.path == "/"
                ? LabResponse(
                    fields: [LabField("Content-Type", "text/html")],
                    body: Array(ImageReplacementTests.page.utf8))
                : LabResponse(
                    fields: [LabField("Content-Type", "image/jpeg")], body: Array("dog".utf8))
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try ImageReplacementTests.cat.write(
            to: URL(fileURLWithPath: directory.path + "/cat.png"))
        let rules: LiveRules = [.replacingImages(with: directory.path + "/cat.png")]
        let session = try lab.session(rules)

        let base = String(origin.url(host: "shop.example.test", path: "/").dropLast())
        let seen = try await load(base, session)

        #expect(seen["/"]?.text == ImageReplacementTests.page)
        for picture in ["/dog.jpg", "/photos/dog.GIF?size=2", "/logo.svg"] {
            let shown = try #require(seen[picture])
            #expect(shown.data == ImageReplacementTests.cat && shown.status == 200, "\(picture)")
            #expect(shown.response?.mimeType == "image/png", "\(picture)")
            #expect(shown.response?.url?.absoluteString == base + picture)
        }
        #expect(origin.record.requests.map(\.path) == ["/"])
        try rules.expect("images", called: 3)

        rules.rules = []
        #expect(try await load(base, session)["/dog.jpg"]?.text == "dog")
    }

    private struct User: Codable, Equatable {
        var id: Int
        var name: String
    }

    @Test func `a service that is not built yet answers with test data, its failures too`()
        async throws
    {
        let lab = try RuleLab()
        let ada = User(id: 7, name: "Ada")
        let rules: LiveRules = [
            RequestRule(
                "user", try .path("/v1/users/7") && .method(.get),
                .stub(try StubResponse.json(encoding: ada))),
            RequestRule(
                "save", try .path("/v1/users/*") && .method(.put),
                .stub(
                    Stub { request in
                        guard request.body == Array("{}".utf8) else {
                            return .json("{\"error\":\"empty\"}", status: 422)
                        }
                        return StubResponse(status: 204)
                    })),
            RequestRule("down", try .path("/v1/orders"), .stub(StubResponse(status: 503))).first(1),
            RequestRule("orders", try .path("/v1/orders"), .stub(.json("[]"))),
        ]
        rules.rules.otherwise = .refuse
        let session = try lab.session(rules)
        let base = "https://api.shop.example.test/v1"

        let (data, response) = try await session.data(
            from: try #require(URL(string: base + "/users/7")))
        #expect(try JSONDecoder().decode(User.self, from: data) == ada)
        #expect(response.mimeType == "application/json")

        var save = URLRequest(url: try #require(URL(string: base + "/users/7")))
        save.httpMethod = "PUT"
        #expect(await session.uploadAnswer(save, from: Data("{}".utf8)).status == 204)
        #expect(await session.uploadAnswer(save, from: Data("x".utf8)).status == 422)

        #expect(try await session.answer(base + "/orders").status == 503)
        #expect(try await session.answer(base + "/orders").text == "[]")

        let unknown = try await session.answer(base + "/user/7")
        #expect(unknown.message.contains("path is \"/v1/user/7\", not \"/v1/users/7\""))
        try rules.expect("save", called: 2)
    }
}
