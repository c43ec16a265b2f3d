import Foundation
import HTTPDNS
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct SendingTests {
    let lab: ClientLab

    init() throws { lab = try ClientLab() }

    @Test func `the wire carries what HostRewriter promised`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let path = "/a%2Fb/%E4%bd?q=%20x+y&z=%7e#part"
        let url = try HTTPURL(
            "https://user:p%40ss@shop.example.test:\(origin.port)" + path)
        let promise = try HostRewriter().rewrite(RequestHead(url: url), to: origin.address)
        let answer = try await lab.client().get(url)
        let request = try #require(origin.record.requests.first)
        #expect(request.target == "/a%2Fb/%E4%bd?q=%20x+y&z=%7e")
        #expect(request.target == promise.target)
        #expect(request.values(of: "Host") == ["shop.example.test:\(origin.port)"])
        #expect(request.host == promise.authority)
        #expect(request.serverName == "shop.example.test")
        #expect(request.serverName == promise.serverName?.text)
        #expect(request.value(of: "Authorization") == "Basic dXNlcjpwQHNz")
        #expect(promise.url == "https://127.0.0.1:\(origin.port)/a%2Fb/%E4%bd?q=%20x+y&z=%7e")
        #expect(answer.head.url == url)
        #expect(!answer.head.url.description.contains("p%40ss"))
    }

    @Test func `the report tells who was asked, where it went and what was proved`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let answer = try await lab.client().get(try origin.httpURL("/x"))
        #expect(answer.text == "hello /x")
        let hop = try #require(answer.report.hops.first)
        #expect(hop.remote == Endpoint(address: origin.address, port: origin.port))
        #expect(hop.peer?.host == .name(try HostName("shop.example.test")))
        #expect(hop.resolution?.addresses == [origin.address])
        #expect(hop.status == 200)
        #expect(!hop.isReusedConnection)
        #expect((hop.timings.secured ?? -1) > 0)
        #expect(answer.report.totalMilliseconds > 0)
    }

    @Test func `a second request uses the connection of the first`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let client = try lab.client()
        _ = try await client.get(try origin.httpURL("/1"))
        let second = try await client.get(try origin.httpURL("/2"))
        #expect(second.report.hops[0].isReusedConnection)
        #expect(second.report.hops[0].peer != nil)
        #expect(origin.record.connections == 1)
    }

    @Test func `a body of octets arrives whole, with its length and type`() async throws {
        let origin = try lab.origin { LabResponse(body: $0.body) }
        defer { origin.stop() }
        let body = [UInt8](Data.pattern(300_000))
        var request = HTTPRequest(.post, try origin.httpURL(), body: .bytes(body))
        try request.head.fields.append("Content-Type", "application/octet-stream")
        let (echo, _) = try await lab.client().sendPatiently(request).collect(upTo: 300_000)
        #expect(echo == body)
        let arrived = try #require(origin.record.requests.first)
        #expect(arrived.value(of: "Content-Length") == "300000")
        #expect(arrived.value(of: "Content-Type") == "application/octet-stream")
        #expect(arrived.method == "POST")
    }

    @Test func `a POST without a body says so, a GET says nothing`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let client = try lab.client()
        _ = try await client.fetch(HTTPRequest(.post, try origin.httpURL()))
        _ = try await client.fetch(HTTPRequest(.get, try origin.httpURL()))
        let lengths = origin.record.requests.map { $0.value(of: "Content-Length") }
        #expect(lengths == ["0", nil])
    }

    @Test func `HEAD and 204 end without a body`() async throws {
        let origin = try lab.origin { $0.path == "/204" ? LabResponse(status: 204) : .text("page") }
        defer { origin.stop() }
        let client = try lab.client()
        let head = try await client.fetch(HTTPRequest(.head, try origin.httpURL()))
        #expect(head.head.fields.first("Content-Length") == "4")
        #expect(head.text.isEmpty)
        let nothing = try await client.get(try origin.httpURL("/204"))
        #expect(nothing.head.status == 204)
        #expect(nothing.text.isEmpty)
    }

    @Test func `a Host field that is not the URL's own is refused before anything is sent`()
        async throws
    {
        let origin = try lab.origin()
        defer { origin.stop() }
        var request = HTTPRequest(.get, try origin.httpURL())
        try request.head.fields.append("Host", "evil.example.test")
        let failure = try await lab.client().failure(of: request)
        #expect(failure?.label == "unsendable")
        #expect(origin.record.connections == 0)
    }

    @Test func `a host without addresses is an error with the reason`() async throws {
        let client = try lab.httpdns([:]) {
            $0.customResolvers = [TableBackend([:])]
        }.client
        let url = try HTTPURL("https://nowhere.example.test/")
        let failure = try #require(await client.failure(of: HTTPRequest(.get, url)))
        #expect(failure.label == "no_such_name")
        #expect(failure.url == url)
    }

    @Test func `an address in the URL is connected to and verified as such`() async throws {
        let leaf = try lab.root.leaf([.address(LabAddress.ipv4)])
        let origin = try lab.origin(security: .tls(leaf))
        defer { origin.stop() }
        let answer = try await lab.client().get(
            try HTTPURL("https://127.0.0.1:\(origin.port)/"))
        #expect(answer.head.status == 200)
        #expect(origin.record.serverNames == [""])
        #expect(origin.record.requests.first?.host == "127.0.0.1:\(origin.port)")
    }

    @Test func `plain http is sent to the address with the name in Host`() async throws {
        let origin = try lab.origin(security: .plain)
        defer { origin.stop() }
        let answer = try await lab.client().get(try origin.httpURL())
        #expect(answer.report.hops[0].peer == nil)
        #expect(origin.record.requests.first?.host == "shop.example.test:\(origin.port)")
    }

    @Test func `three hundred requests at a time all get their own answer`() async throws {
        let origin = try lab.origin { .text(String(repeating: $0.path, count: 100)) }
        defer { origin.stop() }
        let client = try lab.client()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<300 {
                let url = try origin.httpURL("/\(number)")
                group.addTask {
                    let answer = try await client.get(url)
                    return answer.text == String(repeating: "/\(number)", count: 100)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(origin.record.requests.count == 300)
    }

    @Test(arguments: [HTTPVersion.http2, .http11])
    func `nginx is spoken to in the version that was asked for`(version: HTTPVersion) async throws {
        let nginx = try await NginxOrigin(
            try lab.root.leaf(["shop.example.test"], commonName: "Lab origin"))
        do {
            let client = try lab.httpdns { $0.highestVersion = version }.client
            let base = "https://shop.example.test:\(nginx.endpoint.port)"
            let answer = try await client.get(try HTTPURL(base + "/a"))
            #expect(answer.head.version == version)
            #expect(answer.text == "hello shop.example.test")
            let body = [UInt8](repeating: 0x62, count: 2_000_000)
            let put = HTTPRequest(.put, try HTTPURL(base + "/files/big"), body: .bytes(body))
            #expect(try await client.fetch(put).head.status == 201)
            let back = try await client.sendPatiently(HTTPRequest(.get, put.head.url))
            #expect(try await back.collect(upTo: 3_000_000).body == body)
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await client.get(try HTTPURL(base + "/")).text }
                }
                for try await text in group { #expect(text == "hello shop.example.test") }
            }
            let version = version == .http2 ? "HTTP/2.0" : "HTTP/1.1"
            #expect(try await nginx.log(100).allSatisfy { $0.hasPrefix(version) })
        } catch { Issue.record(error) }
        try await nginx.stop()
    }
}
