import Glibc
import HTTPDNS
import HTTPDNSJSON
import TestSupport
import Testing

@testable import HTTPDNSCapture

@Suite(.timeLimit(.minutes(3))) struct PageTests {
    private static let attacks = [
        "</script><script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "<!--<script>", "]]>", "'\"><svg onload=document.title='owned'>",
        "javascript:document.title='owned'",
        "\u{202E}gnp.exe", "\u{2028}\u{2029}\0",
    ]

    private var records: [CaptureRecord] {
        PageTests.attacks.enumerated().map { place, attack in
            var record = CaptureRecord.sample(
                "/\(attack)", host: "h\(place).example.test", body: Array(attack.utf8))
            record.id = Int64(place) + 1
            record.hops[0].method = attack
            record.hops[0].requestFields = [.init(attack, attack)]
            record.hops[0].responseFields = [
                .init("Content-Type", "text/html"), .init(attack, attack),
            ]
            record.hops[0].statusText = attack
            record.hops[0].peer = .init(
                host: attack, matchedName: attack, subject: attack, issuer: attack,
                notAfter: record.startedAt, pin: attack, pinning: attack)
            record.rule = attack
            record.reason = attack
            record.initiator.name = attack
            record.failure = .init(label: attack, message: attack)
            return record
        }
    }

    @Test func `nothing of a record is markup`() throws {
        let page = String(
            decoding: CapturePage.page(records, title: PageTests.attacks[0]), as: UTF8.self)
        let begin = try #require(page.firstRange(of: "id=\"data\"")?.upperBound)
        let opened = try #require(page[begin...].firstIndex(of: "["))
        let end = try #require(page[opened...].firstRange(of: "</script>")?.lowerBound)
        let data = page[opened..<end]
        for character in "<>&" { #expect(!data.contains(character)) }
        #expect(page.matches(of: /<script/).count == 2 && !page.contains("<img"))
        let read = try JSONValue.parse(String(data))
        #expect(read.array?.count == PageTests.attacks.count)
        #expect(read.array?.first?["responseText"]?.string == PageTests.attacks[0])
    }

    @Test func `it loads nothing, and its policy lets nothing in`() throws {
        let page = String(decoding: CapturePage.page(records, title: "x"), as: UTF8.self)
        let policy = try #require(
            page.firstMatch(of: /Content-Security-Policy" content="([^"]*)"/)?.1)
        #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-"))
        #expect(!policy.contains("unsafe") && policy.contains("base-uri 'none'"))
        let own = page.replacing(#/<script type="application\/json"[\s\S]*?<\/script>/#, with: "")
        for word in ["src=", "url(", "@import", "innerHTML", "eval(", "fetch(", "<link", "href="] {
            #expect(!own.contains(word), "\(word)")
        }
        let other = String(decoding: CapturePage.page([], title: "x"), as: UTF8.self)
        #expect(other.firstMatch(of: /nonce-(\w+)/)?.1 != page.firstMatch(of: /nonce-(\w+)/)?.1)
    }

    @Test(.enabled(if: Chromium.isThere))
    func `in a browser without a network it shows every record and runs nothing of them`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "page.html", String(decoding: CapturePage.page(records, title: "page"), as: UTF8.self))
        let dom = try await Chromium.dom(of: "file://\(path)#record=1", in: directory)
        #expect(dom.contains("8 of 8 requests, 8 failed"))
        #expect(dom.contains("<title>page</title>"), "nothing has changed the title")
        #expect(dom.matches(of: /<tr tabindex/).count == 8)
        #expect(dom.contains("id=\"close\""), "the details are open")
        #expect(!dom.contains("owned</title>"))
    }
}

extension PageTests {
    @Test(.enabled(if: Chromium.isThere), arguments: [400, 1_280])
    func `no status and no method is cut off, on a telephone neither`(width: Int) async throws {
        var records = PageTests.plain
        for (place, label) in ["redirect_refused", "cannot_connect"].enumerated() {
            records[place].failure = .init(label: label, message: label)
            records[place].hops[0].status = nil
            records[place].hops[0].method = "OPTIONS"
        }
        let directory = try TemporaryDirectory()
        _ = try directory.write(
            "page.html", String(decoding: CapturePage.page(records, title: "page"), as: UTF8.self))
        let frame = try directory.write(
            "frame.html",
            """
            <iframe src="page.html" style="width:\(width)px;height:800px;border:0"></iframe><script>
            addEventListener("load",()=>{const d=document.querySelector("iframe").contentDocument;
            const rows=[...d.querySelectorAll("#list tbody tr")];
            const cut=rows.flatMap(r=>[2,3].map(i=>r.cells[i]))
              .filter(c=>c.scrollWidth>c.clientWidth||c.getBoundingClientRect().right>\(width));
            document.title=rows.length+" rows, "+cut.length+" cut, "+
              (d.documentElement.scrollWidth>\(width)?"wider":"fits")})</script>
            """)
        let dom = try await Chromium.dom(
            of: "file://\(frame)", in: directory, flags: ["--allow-file-access-from-files"])
        #expect(dom.contains("<title>8 rows, 0 cut, fits</title>"), "\(dom.suffix(400))")
    }

    private static var plain: [CaptureRecord] {
        (0..<8).map { .sample("/a/long/path/to/\($0)?" + String(repeating: "x", count: 90)) }
    }
}

/// A browser on this machine, where there is one.
enum Chromium {
    private static let places: [String] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"]
    static let program: String? = places.first { (place: String) in access(place, X_OK) == 0 }

    static var isThere: Bool { program != nil }

    /// What the page has become once its scripts have run; no host name leads anywhere.
    static func dom(
        of url: String, in directory: TemporaryDirectory, flags: [String] = [], dumps: Bool = true
    ) async throws -> String {
        let result = try await run(
            program ?? "chromium",
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                "--host-resolver-rules=MAP * ^NOTFOUND",
                "--user-data-dir=\(directory.path)/profile",
            ] + flags + (dumps ? ["--dump-dom", url] : [url]))
        return result.outputText
    }
}
