// The members of each part. Source: the HAR 1.2 specification; see `HARSchema`.
extension HARSchema {
    static let shapes: [String: Shape] = [
        "har": har, "log": log, "creator": creator, "browser": creator, "page": page,
        "pageTimings": pageTimings, "entry": entry, "request": request, "response": response,
        "cookie": cookie, "header": pair, "query": pair, "postData": postData,
        "content": content, "cache": cache, "beforeRequest": kept, "afterRequest": kept,
        "timings": timings,
    ]

    private static let text = Shape.string(nil)

    private static let har = Shape.object(
        Members([("log", log)], needs: ["log"], hasComment: false))

    private static let log = Shape.object(
        Members(
            [
                ("version", text), ("creator", creator), ("browser", creator),
                ("pages", .array(page)), ("entries", .array(entry)),
            ], needs: ["version", "creator", "entries"]))

    private static let creator = Shape.object(
        Members([("name", text), ("version", text)], needs: ["name", "version"]))

    private static let page = Shape.object(
        Members(
            [
                ("startedDateTime", .string(.moment)), ("id", text), ("title", text),
                ("pageTimings", pageTimings),
            ], needs: ["startedDateTime", "id", "title", "pageTimings"]))

    private static let pageTimings = Shape.object(
        Members([("onContentLoad", .number), ("onLoad", .number)]))

    private static let entry = Shape.object(
        Members(
            [
                ("pageref", text), ("startedDateTime", .string(.moment)), ("time", .number),
                ("request", request), ("response", response), ("cache", cache),
                ("timings", timings), ("serverIPAddress", .string(.address)),
                ("connection", text),
            ],
            needs: ["startedDateTime", "time", "request", "response", "cache", "timings"]))

    private static let request = Shape.object(
        Members(
            [
                ("method", text), ("url", .string(.uri)), ("httpVersion", text),
                ("cookies", .array(cookie)), ("headers", .array(pair)),
                ("queryString", .array(pair)), ("postData", postData),
                ("headersSize", .integer), ("bodySize", .integer),
            ],
            needs: [
                "method", "url", "httpVersion", "cookies", "headers", "queryString",
                "headersSize", "bodySize",
            ]))

    private static let response = Shape.object(
        Members(
            [
                ("status", .integer), ("statusText", text), ("httpVersion", text),
                ("cookies", .array(cookie)), ("headers", .array(pair)), ("content", content),
                ("redirectURL", text), ("headersSize", .integer), ("bodySize", .integer),
            ],
            needs: [
                "status", "statusText", "httpVersion", "cookies", "headers", "content",
                "redirectURL", "headersSize", "bodySize",
            ]))

    private static let cookie = Shape.object(
        Members(
            [
                ("name", text), ("value", text), ("path", text), ("domain", text),
                ("expires", .stringOrNull(.dateTime)), ("httpOnly", .boolean),
                ("secure", .boolean),
            ], needs: ["name", "value"]))

    private static let pair = Shape.object(
        Members([("name", text), ("value", text)], needs: ["name", "value"]))

    // The schema asks nothing of the elements of `params`.
    private static let postData = Shape.object(
        Members(
            [("mimeType", text), ("text", text), ("params", .array(.any))], needs: ["mimeType"]))

    private static let content = Shape.object(
        Members(
            [
                ("size", .integer), ("compression", .integer), ("mimeType", text), ("text", text),
                ("encoding", text),
            ], needs: ["size", "mimeType"]))

    private static let cache = Shape.loose(
        Members([("beforeRequest", .nullOr(kept)), ("afterRequest", .nullOr(kept))]))

    private static let kept = Shape.object(
        Members(
            [
                ("expires", .string(.looseMoment)), ("lastAccess", .string(.looseMoment)),
                ("eTag", text), ("hitCount", .integer),
            ], needs: ["lastAccess", "eTag", "hitCount"]))

    private static let timings = Shape.loose(
        Members(
            [
                ("dns", .number), ("connect", .number), ("blocked", .number), ("send", .number),
                ("wait", .number), ("receive", .number), ("ssl", .number),
            ], needs: ["send", "wait", "receive"]))
}
