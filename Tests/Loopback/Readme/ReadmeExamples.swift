import FoundationNetworking
import HTTPDNS
import HTTPDNSURLSession

// The examples of README.md, compiled. `ReadmeTests` holds the two together, line by line.

func sendRequestsOfOnesOwn() async throws {
    let httpdns = try HTTPDNS()
    let response = try await httpdns.client.send(
        HTTPRequest(.get, HTTPURL("https://api.example.com/v1")))
    let (body, report) = try await response.collect(upTo: 1_048_576)
    print(response.status, body.count, report.hops[0].remote as Any)
}

func throughAURLSession() throws -> URLSession {
    let configuration = URLSessionConfiguration.default
    try HTTPDNS.install(into: configuration)
    let session = URLSession(configuration: configuration)
    return session
}

func withSettings() throws {
    var settings = HTTPDNSConfiguration()
    var service = try ResolverDescription("aliyun")
    service.account = "100000"
    var google = try ResolverDescription("https://dns.google/dns-query")
    google.bootstrap = [try IPAddress("8.8.8.8")]
    settings.resolvers = [service, google, .system]
    let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    try settings.trust.pins.add([pin], for: "**.example.com")
    try HTTPDNS(settings).install(into: URLSession.shared)
}

func withAnHTTPStackOfOnesOwn(url: HTTPURL, address: IPAddress) throws -> String {
    let wire = try HostRewriter().rewrite(RequestHead(url: url), to: address)
    return "\(wire.url) \(wire.authority) \(wire.serverName as Any) \(wire.verifyAs)"
}
