internal import HTTPDNSJSON

/// Writes records as one HTML page that loads nothing: a list with a waterfall, filters and
/// details, for a browser without a network.
///
///     var page = CapturePage(title: "traffic.sqlite")
///     take(page.begin())
///     for record in records { take(page.entry(record)) }
///     take(page.end())
///
/// What a record holds is data to it and never markup: it stands as JSON in which no `<` is left,
/// and is shown as text. A content security policy allows this page's own script and style and
/// nothing else.
public struct CapturePage {
    private let title: String
    private let nonce: String
    private var isFirst = true

    /// - Parameter title: what the page is called.
    public init(title: String) {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<4).map { _ in String(generator.next() as UInt64, radix: 36) }
        self.init(title: title, nonce: digits.joined())
    }

    init(title: String, nonce: String) {
        self.title = title
        self.nonce = nonce
    }

    /// What the page begins with.
    public func begin() -> [UInt8] {
        let policy =
            "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
            + "base-uri 'none'; form-action 'none'"
        return Array(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <title>\(CapturePage.escaped(title))</title>
            <style nonce="\(nonce)">
            \(CapturePage.style)
            </style>
            </head>
            <body>
            <header><h1>\(CapturePage.escaped(title))</h1><p id="sum"></p></header>
            \(CapturePage.frame)
            <noscript><p>This page needs JavaScript, its own alone: it loads nothing.</p></noscript>
            <script type="application/json" id="data" nonce="\(nonce)">[
            """.utf8)
    }

    /// One record; of its bodies the beginning.
    public mutating func entry(_ record: CaptureRecord) -> [UInt8] {
        let separator: [UInt8] = isFirst ? [0x0A] : [0x2C, 0x0A]
        isFirst = false
        var record = record
        // A HAR file is read with whole bodies.
        record.requestBody.shorten()
        record.responseBody.shorten()
        return separator + CapturePage.harmless(CaptureJSON.object(record, withBodies: true))
    }

    /// What the page ends with.
    public func end() -> [UInt8] {
        Array(
            """

            ]</script>
            <script nonce="\(nonce)">
            \(CapturePage.script)
            </script>
            </body>
            </html>

            """.utf8)
    }

    /// A whole page.
    public static func page(
        _ records: some Sequence<CaptureRecord>, title: String
    ) -> [UInt8] {
        var page = CapturePage(title: title)
        var octets = page.begin()
        for record in records { octets += page.entry(record) }
        return octets + page.end()
    }

    /// JSON that ends no script and begins no comment: `<`, `>` and `&` stand only in strings,
    /// where they can be written in another way.
    static func harmless(_ json: [UInt8]) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(json.count + json.count / 16)
        for octet in json {
            switch octet {
            case 0x3C: octets.append(contentsOf: "\\u003c".utf8)
            case 0x3E: octets.append(contentsOf: "\\u003e".utf8)
            case 0x26: octets.append(contentsOf: "\\u0026".utf8)
            default: octets.append(octet)
            }
        }
        return octets
    }

    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}",
                "\u{2066}"..."\u{2069}":
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

extension CaptureRecord.Body {
    /// Only the beginning is shown; how much was kept is still said.
    fileprivate mutating func shorten() {
        guard octets.count > CaptureRecord.Body.maximumInlineOctets else { return }
        octets = Array(octets.prefix(CaptureRecord.Body.maximumInlineOctets))
    }
}
