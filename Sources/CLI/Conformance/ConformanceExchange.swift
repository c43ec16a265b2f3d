internal import HTTPDNSJSON

// URLs, redirects and cookies
extension ConformanceAdapter {
    static let exchangeOperations: [String: Operation] = [
        "url.target": { (request) throws(ConformanceRequest.Fault) in
            guard let target = URLOperations.target(try request.text("input")) else {
                return refused
            }
            return [
                "ok": true, "scheme": .string(target.scheme), "hostname": .string(target.hostname),
                "port": .integer(Int64(target.port)), "host_header": .string(target.hostHeader),
                "target": .string(target.target),
            ]
        },
        "http.redirect": redirect,
        "cookie.jar": jar,
        "cookie.date": { (request) throws(ConformanceRequest.Fault) in
            guard let time = CookieOperations.date(try request.text("input")) else {
                return refused
            }
            return ["ok": true, "time": .integer(time)]
        },
        "cookie.domain": { (request) throws(ConformanceRequest.Fault) in
            let scope = CookieOperations.domain(
                host: try request.text("host"), attribute: try request.text("domain"),
                publicSuffixes: try request.optionalTexts("psl"))
            guard let scope else { return refused }
            return [
                "ok": true, "domain": .string(scope.domain), "host_only": .bool(scope.isHostOnly),
            ]
        },
        "cookie.domain_match": { (request) throws(ConformanceRequest.Fault) in
            let matches = CookieOperations.domainMatches(
                host: try request.text("host"), domain: try request.text("domain"))
            return ["ok": .bool(matches)]
        },
        "cookie.path_match": { (request) throws(ConformanceRequest.Fault) in
            let matches = CookieOperations.pathMatches(
                request: try request.text("request"), cookie: try request.text("cookie"))
            return ["ok": .bool(matches)]
        },
        "cookie.default_path": { (request) throws(ConformanceRequest.Fault) in
            ["path": .string(CookieOperations.defaultPath(try request.text("path")))]
        },
    ]

    @Sendable private static func redirect(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> JSONObject {
        var headers: [(name: String, value: String)] = []
        if let given = try request.object("headers") {
            for name in given.members.names {
                headers.append((name: name, value: try given.text(name)))
            }
        }
        guard let status = Int(exactly: try request.integer("status")) else { return refused }
        let redirected = URLOperations.redirect(
            status: status, method: try request.text("method"),
            body: try request.optionalText("body") ?? "", headers: headers)
        guard let redirected else { return refused }
        return [
            "ok": true, "method": .string(redirected.method), "body": .string(redirected.body),
            "content_headers_kept": .bool(redirected.keepsContentHeaders),
        ]
    }

    @Sendable private static func jar(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> JSONObject {
        var steps: [CookieOperations.Step] = []
        for step in try request.objects("steps") {
            let now = try step.integer("now")
            if let set = try step.object("set") {
                let url = try set.text("url")
                steps.append(.set(now: now, url: url, headers: try set.texts("headers")))
            } else {
                let isProbe = try step.flag("probe")
                steps.append(.get(now: now, url: try step.text("get"), isProbe: isProbe))
            }
        }
        let answer = CookieOperations.jar(
            steps, publicSuffixes: try request.optionalTexts("psl"))
        return [
            "cookies": pairs(answer.cookies), "get_all": .array(answer.all.map { .string($0) }),
            "probe": pairs(answer.probe),
        ]
    }

    private static func pairs(_ pairs: [[String]]) -> JSONValue {
        .array(pairs.map { .array($0.map { .string($0) }) })
    }
}
