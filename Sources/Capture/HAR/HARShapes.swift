// The members of each part. Source: the HAR 1.2 specification; see `HARSchema`.
extension HARSchema {
    static let shapes: [String: Shape] = [
        "har": har, "log": log, "creator": creator, "browser": creator, "page": page,
        "pageTimings": pageTimings, "entry": entry, "request": request, "response": response,
        "cookie": cookie, "header": header, "query": pair, "postData": postData,
        "content": content, "cache": cache, "beforeRequest": kept, "afterRequest": kept,
        "timings": timings,
    ]

    private static let text = Shape.string(nil)
    private static let words = Shape.string(.words)
    /// Milliseconds, and octets; -1 for what did not happen or is not known.
    private static let time = Shape.number(.countOrNone)
    private static let size = Shape.integer(.countOrNone)

    private static let har = Shape.object(
        Members([("log", log)], needs: ["log"], hasComment: false))

    private static let log = Shape.object(
        Members(
            [
                ("version", .string(.version)), ("creator", creator), ("browser", creator),
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
        Members([("onContentLoad", time), ("onLoad", time)]))

    private static let entry = Shape.object(
        Members(
            [
                ("pageref", text), ("startedDateTime", .string(.moment)), ("time", .number(.count)),
                ("request", request), ("response", response), ("cache", cache),
                ("timings", timings), ("serverIPAddress", .string(.address)),
                ("connection", text),
            ],
            needs: ["startedDateTime", "time", "request", "response", "cache", "timings"]))

    private static let request = Shape.object(
        Members(
            [
                ("method", .string(.method)), ("url", .string(.requestURI)), ("httpVersion", words),
                ("cookies", .array(cookie)), ("headers", .array(header)),
                ("queryString", .array(pair)), ("postData", postData),
                ("headersSize", size), ("bodySize", size),
            ],
            needs: [
                "method", "url", "httpVersion", "cookies", "headers", "queryString",
                "headersSize", "bodySize",
            ]))

    private static let response = Shape.object(
        Members(
            [
                ("status", .integer(.status)), ("statusText", words), ("httpVersion", words),
                ("cookies", .array(cookie)), ("headers", .array(header)), ("content", content),
                ("redirectURL", words), ("headersSize", size), ("bodySize", size),
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

    private static let header = Shape.object(
        Members(
            [("name", .string(.fieldName)), ("value", words)], needs: ["name", "value"]))

    private static let pair = Shape.object(
        Members([("name", text), ("value", text)], needs: ["name", "value"]))

    // The schema asks nothing of the elements of `params`.
    private static let postData = Shape.object(
        Members(
            [("mimeType", text), ("text", text), ("params", .array(.any))], needs: ["mimeType"]))

    private static let content = Shape.object(
        Members(
            [
                ("size", size), ("compression", .integer(.any)), ("mimeType", words),
                ("text", text), ("encoding", .string(.encoding)),
            ], needs: ["size", "mimeType"]))

    private static let cache = Shape.loose(
        Members([("beforeRequest", .nullOr(kept)), ("afterRequest", .nullOr(kept))]))

    private static let kept = Shape.object(
        Members(
            [
                ("expires", .string(.looseMoment)), ("lastAccess", .string(.looseMoment)),
                ("eTag", words), ("hitCount", .integer(.count)),
            ], needs: ["lastAccess", "eTag", "hitCount"]))

    private static let timings = Shape.loose(
        Members(
            [
                ("dns", time), ("connect", time), ("blocked", time), ("send", time),
                ("wait", time), ("receive", time), ("ssl", time),
            ], needs: ["send", "wait", "receive"]))
}
