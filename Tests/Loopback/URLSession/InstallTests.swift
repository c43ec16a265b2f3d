import Foundation
import FoundationNetworking
import HTTPDNSInterception
import HTTPDNSPinLab
import HTTPDNSURLSession
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct InstallTests {
    let lab: SessionLab

    init() throws { lab = try SessionLab() }

    /// Two origins of one name and port at two addresses, and who leads to which.
    private func twoWorlds() throws -> (servers: [LabServer], httpdns: [HTTPDNS]) {
        let first = try lab.origin { _ in .text("first") }
        let second = try lab.lab.origin(at: LabAddress.ipv4(host: 2), port: first.port) { _ in
            .text("second")
        }
        return (
            [first, second],
            try [first, second].map { try lab.lab.httpdns([SessionLab.host: [$0.address]]) }
        )
    }

    @Test func `two installations in one process do not mix`() async throws {
        let (servers, httpdns) = try twoWorlds()
        defer { for server in servers { server.stop() } }
        let sessions = try httpdns.map { try lab.session($0) }
        let page = try servers[0].page()
        for _ in 0..<3 {
            #expect(await sessions[0].load(page).text == "first")
            #expect(await sessions[1].load(page).text == "second")
        }
    }

    @Test func `a session that exists can be given HTTPDNS, and back`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let session = URLSession(configuration: .ephemeral)
        let stock = session.configuration.protocolClasses?.count
        try lab.lab.httpdns().install(into: session)
        #expect(await session.load(try origin.page()).text == "hello /")
        HTTPDNS.uninstall(from: session)
        #expect(session.configuration.protocolClasses?.count == stock)
        // The stock loader asks the system, which does not know the name.
        #expect(await session.load(try origin.page()).status == nil)
    }

    @Test func `the shared session can be given HTTPDNS`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        try lab.lab.httpdns().install(into: URLSession.shared)
        defer { HTTPDNS.uninstall(from: URLSession.shared) }
        let (data, _) = try await URLSession.shared.data(from: try origin.page())
        #expect(data == Data("hello /".utf8))
    }

    @Test func `another installation takes the place of the first`() async throws {
        let (servers, httpdns) = try twoWorlds()
        defer { for server in servers { server.stop() } }
        let configuration = URLSessionConfiguration.ephemeral
        httpdns[0].install(into: configuration)
        let before = URLSession(configuration: configuration)
        httpdns[1].install(into: configuration)
        #expect(
            configuration.protocolClasses?.filter {
                InstallationTable.shared.isInstalled($0)
            }.count == 1)
        let after = URLSession(configuration: configuration)
        let page = try servers[0].page()
        #expect(await after.load(page).text == "second")
        // A session made before keeps what it was made with, and is not stripped of it.
        #expect(await before.load(page).text == "first")
        HTTPDNS.uninstall(from: configuration)
        #expect(await before.load(page).text == "first")
    }

    @Test func `an equal installation adds no class`() throws {
        let httpdns = try lab.lab.httpdns()
        let configurations = (0..<2).map { _ in URLSessionConfiguration.ephemeral }
        for configuration in configurations { httpdns.install(into: configuration) }
        let types = configurations.compactMap {
            $0.protocolClasses?.first.map(ObjectIdentifier.init)
        }
        #expect(types.count == 2 && types[0] == types[1])
    }

    @Test func `web sockets, files and names that were passed are left alone, odd URLs are not`()
        throws
    {
        let configuration = URLSessionConfiguration.ephemeral
        let scope = InterceptionScope(passing: [try HostName("intern.example.test")])
        try lab.lab.httpdns().install(into: configuration, scope: scope)
        let type = try #require(configuration.protocolClasses?.first as? URLProtocol.Type)
        let cases: [(text: String, isTaken: Bool)] = [
            ("https://shop.example.test/", true), ("HTTP://Shop.example.test/", true),
            ("ws://shop.example.test/", false), ("wss://shop.example.test/", false),
            ("file:///etc/hosts", false), ("ftp://shop.example.test/", false),
            ("https://intern.example.test/", false), ("https://a.Intern.example.test./", false),
            ("https://notintern.example.test/", true),
            ("https://intern.example.test%2f@shop.example.test/", true),
            ("https://intern.example.test%00/", true), ("https:///intern.example.test", true),
        ]
        for (text, isTaken) in cases {
            guard let url = URL(string: text) else { continue }
            #expect(type.canInit(with: URLRequest(url: url)) == isTaken, "\(text)")
        }
    }

    @Test func `the internals of Foundation are where they are expected`() {
        #expect(TaskInternals.missing() == [])
    }
}
