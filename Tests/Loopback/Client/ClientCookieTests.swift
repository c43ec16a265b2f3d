import HTTPDNS
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ClientCookieTests {
    let lab: ClientLab
    private let names = ["api.example.test", "other.example.test"]
    private let table: [String: [IPAddress]]

    init() throws {
        lab = try ClientLab()
        table = Dictionary(uniqueKeysWithValues: names.map { ($0, [LabAddress.ipv4]) })
    }

    /// `/set` sets one, everything else echoes what came.
    private func origin(_ line: String = "sid=abc") throws -> LabServer {
        try lab.origin(names) { request in
            var answer = LabResponse.text(request.value(of: "Cookie") ?? "none")
            if request.path == "/set" { answer.fields.append(LabField("Set-Cookie", line)) }
            return answer
        }
    }

    @Test func `a cookie is filed under the name, not the address`() async throws {
        // User case CK-01.
        let origin = try origin()
        defer { origin.stop() }
        let client = try lab.client(table)
        _ = try await client.get(try origin.httpURL("/set", host: names[0]))
        let answer = try await client.get(try origin.httpURL("/", host: names[0]))
        #expect(answer.text == "sid=abc")
    }

    @Test func `two names at one address never see each other's cookies`() async throws {
        // User case CK-02.
        let origin = try origin()
        defer { origin.stop() }
        let client = try lab.client(table)
        _ = try await client.get(try origin.httpURL("/set", host: names[0]))
        let other = try await client.get(try origin.httpURL("/", host: names[1]))
        #expect(other.text == "none")
    }

    @Test func `the address itself gets no cookie of the name`() async throws {
        let leaf = try lab.root.leaf(["api.example.test", .address(LabAddress.ipv4)])
        let origin = try lab.origin(security: .tls(leaf)) { request in
            var answer = LabResponse.text(request.value(of: "Cookie") ?? "none")
            answer.fields.append(LabField("Set-Cookie", "sid=\(request.host?.first ?? "-")"))
            return answer
        }
        defer { origin.stop() }
        let client = try lab.client(table)
        _ = try await client.get(try origin.httpURL("/", host: names[0]))
        let address = try await client.get(try HTTPURL("https://127.0.0.1:\(origin.port)/"))
        #expect(address.text == "none")
        let name = try await client.get(try origin.httpURL("/", host: names[0]))
        #expect(name.text == "sid=a")
    }

    @Test func `a cookie of a redirecting answer goes with the next hop`() async throws {
        // User case CK-05.
        let origin = try lab.origin(names) { request in
            guard request.path == "/r" else { return .text(request.value(of: "Cookie") ?? "none") }
            var answer = LabResponse.redirect(to: "/echo")
            answer.fields.append(LabField("Set-Cookie", "set=1"))
            return answer
        }
        defer { origin.stop() }
        let answer = try await lab.client(table).get(try origin.httpURL("/r", host: names[0]))
        #expect(answer.text == "set=1")
    }

    /// `SameSite` keeps a page of one site from acting for its reader at another. What an application
    /// sends is nobody's page: it goes as the stock loader sends it.
    @Test(arguments: ["Strict", "Lax", "None", "nonsense"])
    func `a cookie's SameSite keeps it from no hop, not from one of another site's redirect`(
        rule: String
    ) async throws {
        let origin = try origin("sid=abc; Secure; SameSite=\(rule)")
        defer { origin.stop() }
        let target = try origin.httpURL("/echo", host: names[0])
        let foreign = try lab.origin(["elsewhere.test"], at: LabAddress.ipv4(host: 3)) { _ in
            .redirect(to: "\(target)")
        }
        defer { foreign.stop() }
        var table = table
        table["elsewhere.test"] = [LabAddress.ipv4(host: 3)]
        let client = try lab.client(table)
        _ = try await client.get(try origin.httpURL("/set", host: names[0]))
        #expect(try await client.get(target).text == "sid=abc")
        let led = try await client.get(try foreign.httpURL("/", host: "elsewhere.test"))
        #expect(led.text == "sid=abc")
        #expect(led.report.hops.count == 2)
    }

    @Test func `beside a Cookie field of the caller's own goes what a redirect has set`()
        async throws
    {
        let origin = try lab.origin(names) { request in
            guard request.path == "/r" else { return .text(request.value(of: "Cookie") ?? "none") }
            var answer = LabResponse.redirect(to: request.target.contains("?") ? "/echo" : "/r?2")
            answer.fields.append(LabField("Set-Cookie", "new=1; Path=/"))
            answer.fields.append(LabField("Set-Cookie", "two=set; Path=/"))
            return answer
        }
        defer { origin.stop() }
        let client = try lab.client(table)
        var request = HTTPRequest(.get, try origin.httpURL("/r", host: names[0]))
        try request.head.fields.append("Cookie", "own=1; two=mine")
        // Of one name what the server set counts.
        #expect(try await client.fetch(request).text == "own=1; new=1; two=set")
        let sent = origin.record.requests.map { $0.values(of: "Cookie") }
        #expect(
            sent == [["own=1; two=mine"]] + Array(repeating: ["own=1; new=1; two=set"], count: 2))
        // What was kept before is not what the caller asked for.
        request.head.url = try origin.httpURL("/echo", host: names[0])
        #expect(try await client.fetch(request).text == "own=1; two=mine")
    }

    @Test func `a cookie for another site is not kept, and the answer stays usable`() async throws {
        let origin = try origin("sid=abc; Domain=other.example.test")
        defer { origin.stop() }
        let client = try lab.client(table)
        let answer = try await client.get(try origin.httpURL("/set", host: names[0]))
        #expect(answer.head.status == 200)
        for name in names {
            #expect(try await client.get(try origin.httpURL("/", host: name)).text == "none")
        }
    }

    @Test func `without cookies none is sent and none is kept`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let client = try lab.client(table)
        var request = HTTPRequest(.get, try origin.httpURL("/set", host: names[0]))
        request.usesCookies = false
        _ = try await client.fetch(request)
        let url = try origin.httpURL("/set", host: names[0])
        #expect(try await client.get(url).text == "none")
        #expect(try await client.fetch(request).text == "none")
        #expect(try await client.get(url).text == "sid=abc")
    }
}
