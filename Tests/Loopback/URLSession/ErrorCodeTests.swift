import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession
import TestSupport
import Testing

/// What went wrong has the code that URLSession users know, and our facts below it.
@Suite(.timeLimit(.minutes(1))) struct ErrorCodeTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    private func refusal(_ identity: TestIdentity) async throws -> Loaded {
        let origin = try lab.lab.origin(security: .tls(identity))
        defer { origin.stop() }
        let answer = await (try lab.session()).load(try origin.page())
        #expect(origin.awaitConnectionsEnded())
        #expect(origin.record.receivedOctets == 0)
        return answer
    }

    @Test func `certificates that prove nothing have the codes of certificates`() async throws {
        let root = lab.lab.root
        let name: [TestName] = [.dns(SessionLab.host)]
        let cases: [(identity: TestIdentity, code: URLError.Code, label: String)] = [
            (try root.leaf(["other.example.test"]), .serverCertificateUntrusted, "wrong_name"),
            (try root.leaf(name, validity: .expired), .serverCertificateHasBadDate, "expired"),
            (
                try root.leaf(name, validity: .notYet), .serverCertificateNotYetValid,
                "not_yet_valid"
            ),
            (try TestAuthority().leaf(name), .serverCertificateHasUnknownRoot, "unknown_issuer"),
            (try TestAuthority.selfSigned(name), .serverCertificateHasUnknownRoot, "self_signed"),
        ]
        for (identity, code, label) in cases {
            let answer = try await refusal(identity)
            #expect(answer.error?.code == code, "\(label)")
            #expect(answer.cause?.label == label)
            guard case .untrusted(let trust)? = answer.cause?.cause else {
                Issue.record("\(String(describing: answer.error))")
                continue
            }
            #expect(!trust.facts.chain.isEmpty)
            #expect(answer.error?.localizedDescription.contains(SessionLab.host) == true)
            let url = answer.error?.userInfo[NSURLErrorFailingURLErrorKey] as? URL
            #expect(url?.host == SessionLab.host)
        }
    }

    @Test func `names and connections that fail have theirs`() async throws {
        let backend = TableBackend([SessionLab.host: [LabAddress.ipv4], "empty.example.test": []])
        let httpdns = try lab.lab.httpdns([:]) { $0.customResolvers = [backend] }
        let session = try lab.session(httpdns)
        func code(_ text: String) async throws -> Int? {
            let answer = await session.load(try #require(URL(string: text)))
            #expect(answer.cause != nil)
            return answer.error?.errorCode
        }
        #expect(try await code("https://nowhere.example.test/") == -1003)
        #expect(try await code("https://empty.example.test/") == -1003)
        let closed = try closedPort(address: LabAddress.ipv4)
        #expect(try await code("https://\(SessionLab.host):\(closed)/") == -1004)
        let cutting = try lab.lab.origin(security: .plain) { _ in
            LabResponse(body: [1, 2, 3]).conducting(.closes(afterBodyOctets: 1))
        }
        defer { cutting.stop() }
        #expect(try await code(cutting.url(host: SessionLab.host)) == -1005)
        let garbling = try lab.lab.origin(security: .plain) { _ in
            LabResponse().conducting(.writes(Array("HTTP/1.1 200 OK\r\nno colon\r\n\r\n".utf8)))
        }
        defer { garbling.stop() }
        let garbled = await session.load(try garbling.page())
        #expect(garbled.error?.code == .badServerResponse || garbled.status == 200)
        let silent = try LabServer(security: .plain, fault: .speaksPlainHTTP) { _ in .text("") }
        try silent.start()
        defer { silent.stop() }
        #expect(try await code("https://\(SessionLab.host):\(silent.port)/") == -1200)
    }

    @Test func `a delegate's task gets the same errors`() async throws {
        let origin = try lab.lab.origin(["other.example.test"])
        defer { origin.stop() }
        let recorder = DelegateRecorder()
        try lab.session(delegate: recorder).dataTask(with: try origin.page()).resume()
        let story = await recorder.ended()
        #expect(story.ends.first??.code == .serverCertificateUntrusted)
        #expect(story.responses.isEmpty)
        #expect(story.challenges == 0)
    }

    @Test(arguments: [
        "http://127.1:PORT/", "http://0x7f000001:PORT/", "http://2130706433:PORT/",
        "http://0177.0.0.1:PORT/", "http://a%00b:PORT/", "http:///a", "http://:PORT/",
        "http://shop.example.test%2f@127.0.0.1:PORT/",
    ])
    func `a URL that readers understand differently is refused`(text: String) async throws {
        let origin = try lab.lab.origin(security: .plain)
        defer { origin.stop() }
        let filled = text.replacingOccurrences(of: "PORT", with: "\(origin.port)")
        // Foundation itself refuses some of them.
        guard let url = URL(string: filled) else { return }
        let answer = await (try lab.session()).load(url)
        if answer.status == nil {
            #expect(answer.error?.code == .badURL || answer.error?.code == .cannotFindHost)
        } else {
            // One reading after all: it went where both say.
            let asked = origin.record.requests.first?.host?.split(separator: ":").first
            #expect(asked.map(String.init) == url.host, "\(url)")
        }
    }
}
