internal import HTTPDNSCapture
internal import HTTPDNSJSON

extension OptionRule {
    static let captureHost = OptionRule(
        "host", value: "NAME",
        "only what was asked of that host, or of names under it, in any hop")
    static let captureStatus = OptionRule(
        "status", value: "CODE", "only that status: 404, 4xx, 200-299, or failed, or ok")
    static let captureMethod = OptionRule("method", value: "METHOD", "only that method")
    static let captureSince = OptionRule(
        "since", value: "TIME",
        "only what began from then on: 2027-01-31T12:00:00Z, 2027-01-31, or 10m (ago)")
    static let captureUntil = OptionRule(
        "until", value: "TIME", "only what began before then")
    static let captureKind = OptionRule(
        "kind", value: "KIND", "only exchange, passed, stubbed, blocked, cached or tunnel")
    static let captureLast = OptionRule("last", value: "N", "only the last N of what else fits")
    static let captureBody = OptionRule(
        "body", value: "SIDE", "with show FILE NUMBER: that body alone, request or response")
    static let captureBy = OptionRule("by", value: "WHAT", "with stats: host, resolver or day")
    static let captureFormat = OptionRule(
        "format", value: "FORM", "with export: ndjson, har or html")
    static let captureHTML = OptionRule("html", "with export: as --format html")
    static let captureCheck = OptionRule(
        "check", "with har: only say what breaks the format of a HAR file")
    static let captureOutput = OptionRule(
        "output", letter: "o", value: "FILE", "write it there; - is standard output, as without it")
}

extension Command {
    /// `httpdns capture`.
    package static let capture = Command(
        "capture", summary: "read what a capture recorded",
        usage: "show|har|stats|export FILE [NUMBER]",
        options: [
            .captureHost, .captureStatus, .captureMethod, .captureSince, .captureUntil,
            .captureKind, .captureLast, .captureBody, .captureBy, .captureFormat, .captureHTML,
            .captureCheck, .captureOutput, .keepSecrets, .json,
        ], details: details
    ) { (arguments, console) throws(CommandFault) in
        let verbs = ["show", "har", "stats", "export"]
        guard let verb = arguments.words.first else {
            throw .usage("one of show, har, stats or export is missing: httpdns capture show FILE")
        }
        guard verbs.contains(verb) else { throw .unknown("verb of capture", verb, known: verbs) }
        try CaptureVerbs.check(verb, arguments)
        guard let path = arguments.words.dropFirst().first else {
            throw .usage("the file is missing: httpdns capture \(verb) FILE")
        }
        let reading = try CaptureReading(path, arguments, console)
        try CaptureSecrets.check(reading, arguments)
        switch verb {
        case "show": return try CaptureShow(reading, arguments, console).run()
        case "har": return try CaptureExport(reading, arguments, console, form: .har).run()
        case "stats": return try CaptureStats(reading, arguments, console).run()
        default: return try CaptureExport(reading, arguments, console, form: nil).run()
        }
    }.failing(CaptureDocument.failure).explaining(CaptureHelp.verbs)
        .readingFilesOnly()

    private static let details = """
        \(CaptureHelp.file)

        show FILE         one line a request: number, time (UTC), method, status, URL, how long it took,
                          octets up and down on the wire, who gave the address
        show FILE NUMBER  everything about one: each hop with its head fields, whom it was asked of,
                          where it went, what the peer proved, how long what took, and the bodies
        har FILE          a HAR 1.2 file for browsers and other tools; --check judges one
        stats FILE        requests, failures, octets, latency and cache hits: in all, by host, by
                          resolver and by day
        export FILE       --format ndjson, har, or html: one page with a waterfall and filters that
                          loads nothing, for a browser without a network

        Each has help of its own: httpdns capture export --help

        With --json, show prints one object a record, stats one, and har and export one about what was
        written to the file of --output, or found by --check. A failure has the keys of a result.

        Examples:
          httpdns fetch https://example.com/ --capture traffic.sqlite
          httpdns capture show traffic.sqlite --host example.com --status failed
          httpdns capture show traffic.sqlite 17
          httpdns capture show traffic.sqlite 17 --body response > page.html
          httpdns capture stats traffic.sqlite --by host --since 1h
          httpdns capture export traffic.sqlite --html -o traffic.html
          httpdns capture har traffic.sqlite -o traffic.har

        \(CaptureHelp.endings)
        """
}

/// What each verb takes: an option that has no meaning is told, never ignored.
enum CaptureVerbs {
    static func check(_ verb: String, _ arguments: ParsedArguments) throws(CommandFault) {
        let owners: [(OptionRule, [String])] = [
            (.captureBody, ["show"]), (.captureBy, ["stats"]), (.captureFormat, ["export"]),
            (.captureHTML, ["export"]), (.captureCheck, ["har"]),
            (.keepSecrets, ["show", "har", "export"]),
            (.captureOutput, ["har", "export"]),
        ]
        for (rule, verbs) in owners where arguments.has(rule) && !verbs.contains(verb) {
            throw .usage("--\(rule.name) belongs to capture \(verbs.joined(separator: ", "))")
        }
        let most = verb == "show" ? 3 : 2
        guard arguments.words.count <= most else {
            throw .usage(
                "unexpected \(quoted(arguments.words[most])); one file is read at a time")
        }
        if arguments.words.count == 3 {
            try refuse(
                CaptureHelp.filters, of: arguments,
                because:
                    "chooses among the records, and \(quoted(arguments.words[2])) is one of them")
        }
        if arguments.has(.captureCheck) {
            try refuse(
                CaptureHelp.filters + [.captureOutput], of: arguments,
                because: "has no meaning with --check, which judges the whole file and writes none")
        }
        if arguments.has(.captureBody), arguments.has(.json) {
            throw .usage(
                "--body writes the octets as they are, and --json an object; without --body the object "
                    + "has the bodies")
        }
    }

    private static func refuse(
        _ rules: [OptionRule], of arguments: ParsedArguments, because reason: String
    ) throws(CommandFault) {
        for rule in rules where arguments.has(rule) { throw .usage("--\(rule.name) \(reason)") }
    }
}
