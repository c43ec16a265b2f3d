import Glibc
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import TestSupport
import Testing

/// `httpdns diagnose`, as it was built.
@Suite(.timeLimit(.minutes(3))) struct DiagnoseToolTests {
    private let directory: TemporaryDirectory
    static let environment = ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"]

    init() throws { directory = try TemporaryDirectory() }

    /// The tool lies beside the test bundle.
    static var tool: String {
        var octets = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &octets, octets.count)
        let own = String(decoding: octets.prefix(max(count, 0)).map(UInt8.init), as: UTF8.self)
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }

    private func diagnose(
        _ lab: DiagnosisLab, _ more: String..., host: String = DiagnosisLab.host
    ) async throws -> CommandResult {
        let root = try directory.write("root.pem", lab.authority.certificatePEM)
        let words = [
            "diagnose", host, "--nameserver", lab.network.endpoint, "--no-system", "--hosts",
            "none", "--trusted", lab.trusted.endpoint, "--cacert", root, "--tls-port",
            "\(lab.origin.port)", "--connect-only", "--stay-on-loopback", "--timeout", "120s",
        ]
        return try await run(Self.tool, words + more, environment: Self.environment)
    }

    private func liar() throws -> DiagnosisLab {
        try DiagnosisLab { question, truth in
            question.text == DiagnosisLab.host ? question.answer([DiagnosisLab.wrong]) : truth
        }
    }

    @Test func `the verdict comes first, then a line for each layer`() async throws {
        let result = try await diagnose(try DiagnosisLab())
        #expect(result.status == 0, "\(result.errorText)")
        let lines = result.outputText.split(separator: "\n").map { String($0) }
        try #require(lines.count > 6)
        #expect(lines.first == "www.shop.test: not hijacked (certain)")
        let layers = lines[1...6].map { String($0.split(separator: " ").first ?? "") }
        #expect(layers == ["network", "dns", "address", "tls", "http", "clock"])
    }

    @Test func `a verdict against ends with 1`() async throws {
        let result = try await diagnose(try liar())
        #expect(result.status == 1)
        #expect(result.outputText.hasPrefix("www.shop.test: hijacked in DNS: udp://127.0.0.1:"))
        #expect(result.outputText.contains("HTTPDNS helps"))
    }

    @Test func `nobody who answers ends with 9`() async throws {
        let lab = try DiagnosisLab()
        for server in [lab.network, lab.trusted] { try server.behave(.dying) }
        #expect(try await diagnose(lab).status == 9)
    }

    @Test func `name servers that fail have answered, and the summary names the code`()
        async throws
    {
        let lab = try DiagnosisLab()
        try lab.network.behave(.fails)
        let result = try await diagnose(lab, "--json")
        #expect(result.status == 9)
        let object = try JSONValue.parse(result.outputText)
        #expect(object["verdict"]?.string == "inconclusive")
        #expect(object["missing"]?.array?.compactMap(\.string) == ["network_answer"])
        #expect(object["summary"]?.string?.contains("SERVFAIL") == true)
        let judged = object["sources"]?.array?.compactMap { $0["judged"]?.string }
        #expect(judged == ["failing", "failing", "honest"])
    }

    @Test func `an address where nobody answers is undecided, and HTTPDNS helps`() async throws {
        let dead = LabAddress.ipv4(host: 199)
        let lab = try DiagnosisLab { question, truth in
            question.text == DiagnosisLab.host && question.type == .a
                ? question.answer([dead]) : truth
        }
        let result = try await diagnose(lab)
        #expect(result.status == 9)
        #expect(
            result.outputText.hasPrefix(
                "www.shop.test: undecided: what is given here does not prove the name\n"))
        #expect(result.outputText.contains("HTTPDNS helps"))
    }

    @Test func `without a network it ends in time and says offline`() async throws {
        let tried = try? await run("unshare", ["-n", "true"])
        guard tried?.status == 0 else { return }
        let result = try await run(
            "unshare", ["-n", Self.tool, "diagnose", "www.example.com", "--json"],
            environment: Self.environment)
        #expect(result.status == 9)
        let object = try JSONValue.parse(result.outputText)
        #expect(object["verdict"]?.string == "offline")
        #expect((object["milliseconds"]?.integer ?? .max) <= 5_000)
    }

    @Test func `JSON has the same keys whatever happened`() async throws {
        let bad = try await run(
            Self.tool, ["diagnose", "--json", "127.0.0.1"], environment: Self.environment)
        #expect(bad.status == 2)
        let good = try await diagnose(try liar(), "--json")
        #expect(good.status == 1)
        let objects = try [bad, good].map { try JSONValue.parse($0.outputText) }
        #expect(objects[0].object?.members.map(\.name) == objects[1].object?.members.map(\.name))
        #expect(objects[1]["verdict"]?.string == "dns_hijacked")
        #expect(objects[1]["how"]?.string == "rewritten")
        #expect(objects[0]["error"]?["code"]?.string == "usage")
    }

    @Test(arguments: [
        (["diagnose"], "a name is missing"),
        (["diagnose", "a.test", "b.test"], "one name at a time"),
        (["diagnose", "127.0.0.1"], "is an address"),
        (["diagnose", "a.test", "--nameserver", "x y"], "--nameserver"),
        (["diagnose", "a.test", "--trusted", "192.0.2.1"], "nothing proves who answers"),
        (["diagnose", "a.test", "--probe", "ftp://x"], "--probe"),
        (["diagnose", "a.test", "--tls-port", "0"], "--tls-port"),
        (["diagnose", "a.test", "--hosts", "/proc/nowhere"], "No such file"),
        (["diagnose", "a.test", "--other-port", "0"], "--other-port"),
        (["diagnose", "a.test", "--vacant-port", "some"], "--vacant-port"),
        (["diagnose", "a.test", "--other-port", "5", "--vacant-port", "5"], "or it is not"),
        (["diagnose", "a.test", "--hosts", "/proc"], "--hosts"),
        (["diagnose", "a.test", "--probe-status", "200"], "means nothing without --probe"),
        (["diagnose", "a.test", "--probe-body", "ok"], "means nothing without --probe"),
        (["diagnose", "a.test", "--trusted", "none", "--html", "/proc/nowhere/x.html"], "--html"),
        (
            ["diagnose", "a.test", "--trusted", "none", "--html", "-", "--json"],
            "--html - and --json"
        ),
    ])
    func `what cannot work is told before anybody is asked`(
        words: [String], part: String
    ) async throws {
        // Should one of them be taken after all, then nobody is asked beyond this machine.
        let hosts = words.contains("--hosts") ? [] : ["--hosts", "none"]
        let nobody = ["--no-system", "--stay-on-loopback", "--connect-only"] + hosts
        let names = words.contains("--nameserver") ? [] : ["--nameserver", "none"]
        let result = try await run(
            Self.tool, words + nobody + names, environment: Self.environment)
        #expect(result.status == 2)
        #expect(result.errorText.contains(part), "\(result.errorText)")
        #expect(result.errorText.split(separator: "\n").count == 1)
    }

    @Test func `a name of another script is shown both ways`() async throws {
        let lab = try DiagnosisLab()
        let result = try await diagnose(lab, host: "bücher.shop.test")
        #expect(result.outputText.hasPrefix("bücher.shop.test (xn--bcher-kva.shop.test): "))
    }

    @Test func `what the network sends reaches neither terminal nor page as it is`()
        async throws
    {
        let label = Array("<script>".utf8) + [0x1B, 0x5B, 0x32, 0x4A]
        let evil = try #require(WireName(labels: [label, Array("test".utf8)]))
        let lab = try DiagnosisLab { question, truth in
            guard question.text == DiagnosisLab.host, question.type == .a else { return truth }
            let alias = ResourceRecord(
                name: question.name, type: .cname, ttlSeconds: 5, data: .name(evil))
            let end = LabQuestion(name: evil, type: .a, isTCP: question.isTCP)
                .answer([DiagnosisLab.wrong])
            return LabAnswer(answers: [alias] + end.answers)
        }
        let file = directory.path + "/page.html"
        let result = try await diagnose(lab, "--html", file)
        #expect(result.status == 1)
        #expect(!result.output.contains(0x1B))
        #expect(!result.errors.contains(0x1B))
        let page = try contents(of: file)
        #expect(!page.contains("\u{1B}"))
        #expect(!page.contains("<script"))
        #expect(page.contains("&lt;script&gt;"))
    }

    @Test func `a page on standard output has it for itself`() async throws {
        let result = try await diagnose(try liar(), "--html", "-")
        #expect(result.status == 1)
        #expect(result.outputText.hasPrefix("<!doctype html>"))
        #expect(result.outputText.hasSuffix("</html>\n"))
        #expect(result.errorText.contains("\(DiagnosisLab.host): "))
    }

    @Test func `the page needs nothing from elsewhere`() async throws {
        let file = directory.path + "/page.html"
        _ = try await diagnose(try liar(), "--html", file, "--raw")
        let page = try contents(of: file)
        #expect(page.hasPrefix("<!doctype html>"))
        #expect(page.contains("default-src &#39;none&#39;"))
        for word in ["<script", "src=", "href=", "url(", "@import", "<iframe", "<img"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("<html lang=\"en\">"))
        for word in ["Who said what", "Timeline", "Addresses and certificates", "Raw evidence"] {
            #expect(page.contains(word), "\(word)")
        }
    }
}
