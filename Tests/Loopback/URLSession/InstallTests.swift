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

    @Test func `only what is listed is taken, and look-alikes are never in a list`() throws {
        let only = InterceptionScope(
            only: [try HostName("example.test")], passing: [try HostName("cdn.example.test")])
        var addresses = InterceptionScope.everything
        addresses.takesAddresses = false
        addresses.takesLocalhost = false
        let cases: [(scope: InterceptionScope, text: String, isTaken: Bool)] = [
            (only, "https://example.test/", true), (only, "https://a.b.EXAMPLE.test./", true),
            (only, "https://notexample.test/", false), (only, "https://example.test.evil/", false),
            (only, "https://example.test@evil.test/", false),
            (only, "https://evil.test/example.test", false),
            (only, "https://cdn.example.test/", false),
            (only, "https://a.cdn.example.test/", false),
            (only, "https://notcdn.example.test/", true), (only, "http://127.0.0.1/", false),
            (only, "http://[::1]/", false), (only, "http://localhost/", false),
            (.everything, "http://127.0.0.1/", true), (.everything, "http://[::1]:8080/", true),
            (.everything, "http://localhost/", true), (.everything, "http://127.1/", true),
            (addresses, "http://127.0.0.1/", false), (addresses, "http://[::1]:8080/", false),
            (addresses, "http://a.localhost/", false), (addresses, "http://localhost.test/", true),
            (addresses, "http://notlocalhost/", true), (addresses, "http://127.1/", true),
        ]
        let httpdns = try lab.lab.httpdns()
        for (scope, text, isTaken) in cases {
            guard let url = URL(string: text) else { continue }
            let configuration = URLSessionConfiguration.ephemeral
            httpdns.install(into: configuration, scope: scope)
            let type = try #require(configuration.protocolClasses?.first as? URLProtocol.Type)
            #expect(type.canInit(with: URLRequest(url: url)) == isTaken, "\(text)")
        }
    }

    @Test func `the resolver's own servers pass where they have names`() throws {
        let texts = ["https://dns.example.test/dns-query", "tls://dot.test"]
        let resolvers = try texts.map { text in
            var resolver = try ResolverDescription(text)
            resolver.bootstrap = [LabAddress.ipv4]
            return resolver
        }
        let httpdns = try lab.lab.httpdns([:]) { $0.resolvers = resolvers }
        var taking = InterceptionScope.everything
        taking.takesResolvers = true
        for (scope, isTaken) in [(InterceptionScope.everything, false), (taking, true)] {
            let configuration = URLSessionConfiguration.ephemeral
            httpdns.install(into: configuration, scope: scope)
            let type = try #require(configuration.protocolClasses?.first as? URLProtocol.Type)
            for host in ["dns.example.test", "DoT.test."] {
                let url = try #require(URL(string: "https://\(host)/"))
                #expect(type.canInit(with: URLRequest(url: url)) == isTaken)
            }
            let other = try #require(URL(string: "https://a.dns.example.test/"))
            #expect(type.canInit(with: URLRequest(url: other)))
        }
    }

    @Test func `a session is made from a configuration that stays as it is`() async throws {
        let origin = try lab.origin()
        defer { origin.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = [
            "X-App": "7", "Proxy-Authorization": "Basic bTpo",
        ]
        let classes = configuration.protocolClasses?.count
        let recorder = DelegateRecorder()
        let session = try lab.lab.httpdns().session(
            configuration: configuration, delegate: recorder)
        #expect(configuration.protocolClasses?.count == classes)
        session.dataTask(with: try origin.page()).resume()
        #expect(await recorder.ended().data == Data("hello /".utf8))
        #expect(origin.record.requests.first?.value(of: "X-App") == "7")
        #expect(origin.record.requests.first?.value(of: "Proxy-Authorization") == nil)
    }

    @Test func `the internals of Foundation are where they are expected`() {
        #expect(TaskInternals.missing() == [])
    }
}
