import HTTPDNSExchange
import HTTPDNSNames
import Testing

@Suite struct RedirectRulesTests {
    @Test(arguments: [
        (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
        (303, "PUT", "GET", false), (303, "HEAD", "HEAD", false), (301, "HEAD", "HEAD", false),
        (301, "PUT", "PUT", true), (302, "DELETE", "DELETE", true), (307, "POST", "POST", true),
        (308, "PATCH", "PATCH", true), (303, "GET", "GET", false),
    ])
    func `the status decides over method and body`(
        status: Int, before: String, after: String, keepsBody: Bool
    ) throws {
        let step = try follow(status, method: before, location: "/next")
        #expect(step.head.method.text == after)
        #expect(step.keepsBody == keepsBody)
        #expect(step.head.fields.contains("content-type") == keepsBody)
        #expect(step.head.url.description == "https://a.test/next")
    }

    @Test func `credentials do not go to another origin`() throws {
        for location in ["https://b.test/", "https://a.test:444/", "//sub.a.test/"] {
            let step = try follow(307, location: location)
            #expect(step.changesOrigin)
            for name in ["Authorization", "Cookie", "Proxy-Authorization", "Referer", "Host"] {
                #expect(!step.head.fields.contains(name))
                #expect(step.droppedFields.contains(name))
            }
            #expect(step.head.fields.contains("X-Trace"))
        }
    }

    @Test func `on the same origin only Host is made anew`() throws {
        let step = try follow(307, location: "https://A.test:443/next")
        #expect(!step.changesOrigin)
        #expect(step.head.fields.contains("Authorization"))
        #expect(step.head.fields.contains("Referer"))
        #expect(step.droppedFields == ["Host"])
    }

    @Test(arguments: [200, 300, 304, 305, 306, 404])
    func `what is no redirect is delivered`(status: Int) throws {
        #expect(try decide(status, locations: ["/next"]) == .deliver(.notARedirect))
    }

    @Test func `a redirect without a usable Location is delivered`() throws {
        #expect(try decide(302, locations: []) == .deliver(.noLocation))
        #expect(try decide(302, locations: ["/a", "/b"]) == .deliver(.severalLocations))
        #expect(
            try decide(302, locations: ["https://127.1/"])
                == .deliver(.unreadableLocation(.odd(.ipv4LookAlike))))
        #expect(
            try decide(302, locations: ["mailto:a@b"])
                == .deliver(.unreadableLocation(.unsupportedScheme("mailto"))))
    }

    @Test func `two equal Location fields are one`() throws {
        guard case .follow = try decide(302, locations: ["/a", "/a"]) else {
            Issue.record("not followed")
            return
        }
    }

    @Test func `the field name is read without case`() throws {
        let step = try follow(302, location: "?q", fieldName: "location")
        #expect(step.head.url.target == "/first?q")
    }

    @Test func `https does not become http unless that is allowed`() throws {
        let plain = try HTTPURL("http://a.test/")
        #expect(
            try decide(302, locations: ["http://a.test/"]) == .refuse(.downgrade(to: plain)))
        var rules = RedirectRules()
        rules.allowsDowngrade = true
        guard case .follow = try decide(302, locations: ["http://a.test/"], rules: rules) else {
            Issue.record("not followed")
            return
        }
    }

    @Test func `the twenty-first redirect is refused`() throws {
        guard case .follow = try decide(302, locations: ["/next"], hops: 19) else {
            Issue.record("the twentieth is not followed")
            return
        }
        #expect(try decide(302, locations: ["/next"], hops: 20) == .refuse(.tooMany(20)))
    }

    @Test func `A limit that is reached is told as that, and a circle by where it closes`() throws {
        var rules = RedirectRules()
        rules.maximumHops = 0
        let none = RedirectFault.tooMany(0)
        #expect(try decide(302, locations: ["/next"], rules: rules) == .refuse(none))
        #expect(none.description == "the server redirects, and the limit is 0 redirects")
        #expect(!"\(RedirectFault.tooMany(3))".contains("circle"))
        #expect("\(RedirectFault.tooMany(3))".contains("the limit is 3"))
        rules.maximumHops = 2
        let next = try HTTPURL("https://a.test/next")
        let decision = RedirectRules().decide(
            ResponseHead(
                url: next, status: 302, version: .http11,
                fields: try HTTPFields(["Location": "/next#x"])),
            to: RequestHead(method: .get, url: next), hasBody: false, hops: 20,
            wasVisited: { $0.target == next.target })
        guard case .refuse(let fault) = decision, case .circle(let url, 20) = fault else {
            Issue.record("\(decision)")
            return
        }
        #expect(url.target == "/next")
        #expect("\(fault)".contains("in a circle: https://a.test/next"))
    }

    private func follow(
        _ status: Int, method: String = "POST", location: String, fieldName: String = "Location"
    ) throws -> RedirectStep {
        let decision = try decide(
            status, method: method, locations: [location], fieldName: fieldName)
        guard case .follow(let step) = decision else { throw NotFollowed(decision: decision) }
        return step
    }

    private func decide(
        _ status: Int, method: String = "GET", locations: [String], hops: Int = 0,
        rules: RedirectRules = RedirectRules(), fieldName: String = "Location"
    ) throws -> RedirectDecision {
        var request = RequestHead(
            method: try #require(HTTPMethod(method)), url: try HTTPURL("https://a.test/first"))
        let names = [
            "Host", "Authorization", "Cookie", "Proxy-Authorization", "Referer", "X-Trace",
        ]
        for name in names {
            try request.fields.append(name, "x")
        }
        try request.fields.append("Content-Type", "text/plain")
        var fields = HTTPFields()
        for location in locations { try fields.append(fieldName, location) }
        let response = ResponseHead(
            url: request.url, status: status, version: .http11, fields: fields)
        return rules.decide(
            response, to: request, hasBody: !["GET", "HEAD"].contains(method), hops: hops)
    }

    private struct NotFollowed: Error { let decision: RedirectDecision }
}
