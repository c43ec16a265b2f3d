internal import HTTPDNSCapture

/// What help says about each verb of `capture`.
enum CaptureHelp {
    static let verbs = [
        CommandVerb(
            "show", summary: "the requests of a capture, or one of them", usage: "FILE [NUMBER]",
            options: filters + [.captureBody, .keepSecrets, .json], details: show),
        CommandVerb(
            "har", summary: "a capture as a HAR 1.2 file, or a judgement of one", usage: "FILE",
            options: filters + [.captureCheck, .captureOutput, .keepSecrets, .json], details: har),
        CommandVerb(
            "stats", summary: "sums over the requests of a capture", usage: "FILE",
            options: filters + [.captureBy, .json], details: stats),
        CommandVerb(
            "export", summary: "a capture in another form", usage: "FILE",
            options: filters + [.captureFormat, .captureHTML, .captureOutput, .keepSecrets, .json],
            details: export),
    ]

    /// What all of them take.
    static let filters: [OptionRule] = [
        .captureHost, .captureStatus, .captureMethod, .captureSince, .captureUntil, .captureKind,
        .captureLast,
    ]

    static let file = """
        FILE is a capture (fetch --capture, proxy --capture, or a program that has one) or a HAR file of
        whatever program, of at most \(HARReader.maximumOctets >> 20) MiB; - is a HAR file on standard
        input. It is only read, also while it is written, and nothing is left beside it. What was taken
        out when it was recorded (passwords, cookies, tokens) is not in it.
        """

    static let endings = """
        \(CaptureSecrets.help)

        Exit codes of capture: 0 read; 1 no record of that number, or a HAR file that breaks the format
        (--check); 2 no file, no capture, a capture of a newer version, a damaged one, a HAR file that is
        too large.

        error.code with --json:
        \(codes)
        """

    private static var codes: String {
        let width = CaptureDocument.codes.map(\.label.count).max() ?? 0
        return CaptureDocument.codes.map { label, meaning, code in
            "  " + label + String(repeating: " ", count: width - label.count + 2)
                + "\(meaning) (exit \(code.rawValue))"
        }.joined(separator: "\n")
    }

    private static let show = """
        Without a number one line a request: number, time (UTC), method, status, URL, how long it took,
        octets up and down on the wire, who gave the address. With a number everything about that one.
        --body writes a body as it was kept: to a file or a program, for a terminal obeys what is in it.
        Filters choose among the records: with a number they are a mistake.

        \(file)

        With --json there is one object a record; with a number also the bodies, as requestText and
        responseText, or in base64 where they are no text.

        Examples:
          httpdns capture show traffic.sqlite --host example.com --status failed
          httpdns capture show traffic.sqlite --since 10m --last 20
          httpdns capture show traffic.sqlite 17
          httpdns capture show traffic.sqlite 17 --body response > page.html

        \(endings)
        """

    private static let har = """
        Each hop of a chain of redirects is an entry. What HAR has no members for stands in _httpdns.
        --check asks of a HAR file what its schema and the text of HAR 1.2 ask, and names what breaks it:
        the whole file, so it goes with no filter.

        \(file)

        Without --output, or with --output -, the HAR file is written to standard output: that is JSON,
        with --json or without. With --output FILE and --json one object says what was written; with
        --check, what was found.

        Examples:
          httpdns capture har traffic.sqlite -o traffic.har
          httpdns capture har traffic.har --check

        \(endings)
        """

    private static let stats = """
        Requests, failures (no answer, or a status of 400 and more), octets up and down on the wire, how
        long answers took (median, 90 and 99 of a hundred), and how often a cache had the address or the
        answer: in all, by host, by resolver and by day (UTC). In all and by day a record is one
        request, its redirects included. By host and by resolver each of its hops is one, so that
        these may be more: what a redirect brought counts for the host it led to. A resolver that was
        asked and gave no address has a request and a failure for it, besides whoever gave one after
        it. What nobody was asked for (a stub, a refusal) counts under the resolver "-", which is null
        with --json. A filter chooses records, with all of their hops.

        \(file)

        Examples:
          httpdns capture stats traffic.sqlite
          httpdns capture stats traffic.sqlite --by host --since 1h --json

        \(endings)
        """

    private static let export = """
        ndjson  one object a line, with the bodies (the usual form)
        har     as capture har
        html    one page with a waterfall, filters and details that loads nothing, for a browser
                without a network; of long bodies the first 64 KiB

        \(file)

        Without --output, or with --output -, it goes to standard output. --json needs --output FILE: one
        object then says what was written.

        Examples:
          httpdns capture export traffic.sqlite --html -o traffic.html
          httpdns capture export traffic.sqlite --since 1h | jq .url

        \(endings)
        """
}
