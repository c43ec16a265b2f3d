import HTTPDNSDoH
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTransport
import HTTPDNSWire
import Testing

@Suite struct DoHMessagesTests {
    private let question: Question
    private let url: HTTPURL
    private let source = Testimony.Source(resolver: "test", transport: .https)
    private let get = DoHMessages(target: "/dns-query", method: .get)

    init() throws {
        question = Question(name: try HostName("www.example.com"), type: .a)
        let origin = Origin(scheme: .https, host: .name(try HostName("dns.example.test")))
        url = HTTPURL(origin: origin, target: "/dns-query")
    }

    private func reply(ttl: UInt32 = 300) throws -> [UInt8] {
        let name = WireName(question.name)
        var message = Message(id: 0, questions: [.init(name: name, type: .a)])
        message.flags.isResponse = true
        message.answers = [
            ResourceRecord(
                name: name, type: .a, ttlSeconds: ttl, data: .address(try IPAddress("192.0.2.1")))
        ]
        return try message.encode()
    }

    private func response(
        _ body: [UInt8], status: Int = 200, _ fields: [(String, String)]
    ) throws -> CollectedResponse {
        var head = ResponseHead(url: url, status: status, version: .http2, fields: HTTPFields())
        for (name, value) in fields { try head.fields.append(name, value) }
        return CollectedResponse(head: head, body: body)
    }

    private static let dns = ("content-type", "application/dns-message")

    @Test(arguments: [
        ("/dns-query", "/dns-query?dns=AAABAAABAAAAAAAB"),
        ("/dns-query?key=1", "/dns-query?key=1&dns=AAABAAABAAAAAAAB"),
    ])
    func `a GET asks with ID 0 in the URL`(target: String, prefix: String) throws {
        let call = try DoHMessages(target: target, method: .get).call(for: question)
        #expect(call.target.hasPrefix(prefix))
        #expect(!call.target.contains("=="))
        #expect(call.method == .get)
        #expect(call.fields.first("Accept") == "application/dns-message")
        #expect(call.fields.first("Content-Type") == nil)
    }

    @Test(arguments: ["text/html", "application/dns-message", ""])
    func `a page that says the URL back is seen without what is private in it`(
        type: String
    ) throws {
        let messages = DoHMessages(target: "/Token-abc/dns-query?key=k9", method: .get)
        let target = try messages.call(for: question).target
        let page = "<p>\(target.replacing("/", with: "%2f").replacing("&", with: "&amp;")): 404</p>"
        let reply = messages.received(
            try response(
                Array(page.utf8), status: 404, type.isEmpty ? [] : [("Content-Type", type)]))
        let shown = String(decoding: reply.raw.octets, as: UTF8.self)
        #expect(reply.raw.form == (type == "application/dns-message" ? .dnsMessage : .body))
        #expect(shown.hasPrefix("<p>%2fREDACTED%2fdns-query?key=REDACTED&amp;dns=AAAB"), "\(shown)")
        #expect(!shown.contains("Token") && !shown.contains("k9"))
    }

    @Test func `a DNS message is seen as it came`() throws {
        let messages = DoHMessages(target: "/example/www", method: .get)
        let body = try reply()
        #expect(messages.received(try response(body, [Self.dns])).raw.octets == body)
    }

    @Test func `a POST carries the query as its body`() throws {
        let call = try DoHMessages(target: "/dns-query", method: .post).call(for: question)
        #expect(call.target == "/dns-query")
        #expect(call.method == .post)
        #expect(call.fields.first("Content-Type") == "application/dns-message")
        guard case .bytes(let octets) = call.body else {
            Issue.record("no octets in the body")
            return
        }
        let message = try Message(decoding: octets)
        #expect(message.id == 0)
        #expect(message.questions == [.init(name: WireName(question.name), type: .a)])
    }

    @Test(arguments: ["a.test", "www.example.com", String(repeating: "label.", count: 30) + "test"])
    func `the length of a query says nothing of its name`(name: String) throws {
        let question = Question(name: try HostName(name), type: .aaaa)
        let call = try DoHMessages(target: "/", method: .post).call(for: question)
        guard case .bytes(let octets) = call.body else {
            Issue.record("no octets in the body")
            return
        }
        #expect(octets.count.isMultiple(of: 128))
    }

    @Test(arguments: [
        "application/dns-message", "Application/DNS-Message", "application/dns-message; charset=x",
    ])
    func `a response of the DNS media type is read`(contentType: String) throws {
        let response = try response(try reply(), [("Content-Type", contentType)])
        let testimony = try get.testimony(from: response, for: question, source: source)
        #expect(testimony.answers.map(\.data) == [.address(try IPAddress("192.0.2.1"))])
    }

    @Test(arguments: [
        nil, "", "text/html", "application/dns-json", "application/dns-message2",
        "application/octet-stream", "x/application/dns-message",
    ])
    func `a response of any other media type is malformed`(contentType: String?) throws {
        let fields = contentType.map { [("Content-Type", $0)] } ?? []
        let response = try response(try reply(), fields)
        #expect {
            try get.testimony(from: response, for: question, source: source)
        } throws: { ($0 as? QueryFailure)?.label == "malformed" }
    }

    @Test(arguments: [301, 302, 303, 307, 308, 400, 413, 415, 429, 500, 503])
    func `a body that is not of a success is not DNS`(status: Int) throws {
        let response = try response(try reply(), status: status, [Self.dns])
        #expect(throws: QueryFailure.httpStatus(status)) {
            try get.testimony(from: response, for: question, source: source)
        }
    }

    @Test(arguments: [
        ("0", 300 as UInt32), ("100", 200), ("300", 0), ("301", 0),
        ("99999999999999999999", 0), ("-5", 300), ("1.5", 300), ("", 300), ("soon", 300),
    ])
    func `the age in an HTTP cache is taken off the lifetime`(
        age: String, ttl: UInt32
    ) throws {
        let response = try response(try reply(), [Self.dns, ("Age", age)])
        let testimony = try get.testimony(from: response, for: question, source: source)
        #expect(testimony.answers.map(\.ttlSeconds) == [ttl])
    }

    @Test(
        arguments: [
            [], [0], Array("<html>".utf8), Array(repeating: 0, count: 12),
            Array(repeating: 0xFF, count: 70_000),
        ] as [[UInt8]])
    func `octets that are not our answer are malformed`(body: [UInt8]) throws {
        let response = try response(body, [Self.dns])
        #expect {
            try get.testimony(from: response, for: question, source: source)
        } throws: { ($0 as? QueryFailure)?.label == "malformed" }
    }

    @Test func `an answer to another question is malformed`() throws {
        let response = try response(try reply(), [Self.dns])
        let other = Question(name: try HostName("other.example.com"), type: .a)
        #expect {
            try get.testimony(from: response, for: other, source: source)
        } throws: { ($0 as? QueryFailure)?.label == "malformed" }
    }

    @Test(arguments: [[], [1]] as [[Int]])
    func `a truncated answer is malformed, whatever is left of it`(left: [Int]) throws {
        var message = try Message(decoding: try reply())
        message.flags.isTruncated = true
        if left.isEmpty { message.answers = [] }
        let response = try response(try message.encode(), [Self.dns])
        #expect {
            try get.testimony(from: response, for: question, source: source)
        } throws: { ($0 as? QueryFailure)?.label == "malformed" }
    }

    @Test func `a server without an address, a verifier or https is refused at once`() throws {
        let transport = Transport()
        let settings = DoHBackend.Settings(bootstrap: [], verifier: nil)
        let plain = HTTPURL(
            origin: Origin(scheme: .http, host: .address(try IPAddress("127.0.0.1"))), target: "/")
        for url in [url, plain] {
            #expect {
                try DoHBackend(url: url, settings: settings, transport: transport)
            } throws: { ($0 as? QueryFailure)?.label == "misconfigured" }
        }
    }
}
