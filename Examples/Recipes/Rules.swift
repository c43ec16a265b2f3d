internal import Foundation
package import FoundationNetworking
package import HTTPDNSURLSession

package struct User: Codable, Sendable {
    package var id: Int
    package var name: String

    package init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

package func testData(_ user: User) throws -> LiveRules {
    // recipe: test data
    let rules: LiveRules = [
        .replacingImages(with: "cat.png"),
        RequestRule(
            "user", try .path("/v1/users/*") && .method(.get),
            .stub(try .json(encoding: user).after(.milliseconds(200)))),
        RequestRule("flaky", try .path("/v1/orders"), .stub(StubResponse(status: 503))).first(2),
    ]
    // end
    return rules
}

package func environments(_ rules: LiveRules) throws {
    // recipe: environments
    let staging = OriginMapping(host: .name(try HostName("staging.example.com")))
    rules.rules = [RequestRule("staging", try .host("api.example.com"), .map(staging))]
    // end
}

package func headersAndCookies(_ token: String) throws -> LiveRules {
    // recipe: headers and cookies
    let rules: LiveRules = [
        RequestRule(
            "ours", try .host("**.example.com"),
            try .setHeaders(["Authorization": "Bearer \(token)"]),
            try .addCookies(["beta": "on"]), .removeHeaders("Referer"))
    ]
    // end
    return rules
}

package func filters() throws -> LiveRules {
    // recipe: filters
    let trackers = try RequestMatcher.host("**.tracker.example") || .host("**.ads.example")
    let rules: LiveRules = [
        RequestRule("no trackers", trackers, .block),
        RequestRule(
            "intranet", try .host("**.corp.example"), .pass(because: "only the system knows it")),
        RequestRule("no uploads", .method(.put) && .header("X-Draft"), .block(.url(.cancelled))),
    ]
    // end
    return rules
}

package func expectations(_ rules: LiveRules) throws {
    // recipe: expectations
    rules.rules =
        RequestRules([RequestRule("login", try .path("/login"), .stub(.json("{}")))]).strict
    // … what is tested …
    try rules.expect("login", called: 1)  // else an error that lists what was seen
    // end
}

package func aFileOfRules(_ httpdns: HTTPDNS) throws -> URLSession {
    // recipe: a file of rules
    let rules = try LiveRules(file: "rules.json")
    let session = httpdns.session(configuration: .default, rules: rules)
    try rules.load(file: "other.json")  // replaces them while the session runs
    // end
    return session
}

package func withoutASession(_ client: HTTPDNSClient, _ rules: LiveRules) async throws {
    // recipe: without a session
    let request = HTTPRequest(.get, try HTTPURL("https://api.example.com/v1"))
    let response = try await client.send(request, under: rules)
    print(response.status, response.body.report.hops[0].rules)
    // end
}
