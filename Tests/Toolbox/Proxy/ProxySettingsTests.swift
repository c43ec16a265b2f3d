import HTTPDNS
import HTTPDNSNames
import HTTPDNSPlatform
import Testing

@testable import HTTPDNSForwardProxy

@Suite struct ProxySettingsTests {
    private func fault(
        _ adjust: (inout ForwardProxyConfiguration) throws -> Void
    ) throws -> ForwardProxyFault? {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        let httpdns = try HTTPDNS(configuration)
        var settings = ForwardProxyConfiguration()
        try adjust(&settings)
        do throws(ForwardProxyFault) { _ = try ForwardProxy(httpdns, settings) } catch {
            return error
        }
        return nil
    }

    @Test func `only this machine is served unless that is asked for, with a token`() throws {
        let any = try IPAddress("0.0.0.0")
        #expect(try fault { $0.address = any } == .beyondLoopback(any))
        #expect(
            try fault {
                $0.address = try IPAddress("::")
                $0.token = Secret("x")
            } == .beyondLoopback(try IPAddress("::")))
        #expect(
            try fault {
                $0.address = any
                $0.servesOtherMachines = true
            } == .tokenMissing)
        #expect(try fault { $0.token = Secret("") } == .badToken)
        #expect(try fault { $0.token = Secret("a\nb") } == .badToken)
        #expect(try fault { $0.address = try IPAddress("::1") } == nil)
    }

    @Test(arguments: [
        (1_024, 464), (65_536, 32_720), (192, 48), (64, 16), (8, 2), (1, 1), (0, 1),
    ])
    func `as many clients are served as there are descriptors for`(limit: Int, clients: Int) {
        let count = ForwardProxy.connections(withDescriptors: limit)
        #expect(count == clients)
        #expect(2 * count <= max(limit, 2))
    }

    @Test func `a proxy says how many clients it has at once`() throws {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        var settings = ForwardProxyConfiguration()
        let usual = try ForwardProxy(try HTTPDNS(configuration), settings)
        #expect(
            usual.maximumConnections == ForwardProxy.connections(withDescriptors: descriptorLimit())
        )
        settings.limits.connections = 7
        let few = try ForwardProxy(try HTTPDNS(configuration), settings)
        #expect(few.maximumConnections == 7)
    }

    @Test func `a port that is taken is said to be`() throws {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        let first = try ForwardProxy(try HTTPDNS(configuration))
        let fault = try fault { $0.port = first.endpoint.port }
        guard case .cannotListen(let why) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(why.contains("in use"))
        withExtendedLifetime(first) {}
    }
}
