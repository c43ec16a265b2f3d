import Foundation
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

func inTheShapeOfURLSession(
    _ httpdns: HTTPDNS, page: URL, pieces: AsyncStream<[UInt8]>
) async throws {
    let (data, answer) = try await httpdns.client.data(for: URLRequest(url: page))
    let (file, _) = try await httpdns.client.download(for: URLRequest(url: page))
    let upload = HTTPRequest(
        .put, try HTTPURL("https://api.example.com/log"), body: .chunks(pieces))
    for try await chunk in try await httpdns.client.send(upload).body { print(chunk.count) }
    try httpdns.cookies.netscapeText.write(toFile: "cookies.txt", atomically: true, encoding: .utf8)
    print(data.count, answer.statusCode, file)
}

func throughAURLSession() throws -> URLSession {
    let configuration = URLSessionConfiguration.default
    try HTTPDNS.install(into: configuration)
    let session = URLSession(configuration: configuration)
    return session
}

func theFactory(
    _ httpdns: HTTPDNS, _ configuration: URLSessionConfiguration, page: URL,
    delegate: any URLSessionDelegate
) async throws {
    let ours = try HTTPDNS().session(configuration: .default, delegate: delegate)
    let (saved, _) = try await ours.download(from: page)
    httpdns.install(
        into: configuration, scope: InterceptionScope(only: [try HostName("example.com")]))
    print(saved)
}

func withTheToolbox(staging: OriginMapping) throws -> URLSession {
    let rules: LiveRules = [
        RequestRule("images", .pathExtension("png", "jpg"), .stub(.file("placeholder.svg"))),
        RequestRule("staging", try .host("api.example.com"), .map(staging)),
        RequestRule("key", .any, try .setHeaders(["X-App": "demo"])),
    ]
    var settings = HTTPDNSConfiguration()
    settings.capture = Capture(CaptureConfiguration(path: "traffic.sqlite"))
    settings.offlineCache = OfflineCacheSettings(directory: "/var/cache/app")
    let toolbox = try HTTPDNS(settings).session(configuration: .default, rules: rules)
    return toolbox
}

func picturesAndTestData(_ httpdns: HTTPDNS) throws -> URLSession {
    let fakes: LiveRules = [
        .replacingImages(with: "cat.png"),
        RequestRule("user", try .path("/v1/user"), .stub(.json("{}"))),
    ]
    let mocked = httpdns.session(configuration: .default, rules: fakes)
    return mocked
}

func toTheAddress(_ httpdns: HTTPDNS) -> URLSession {
    let direct = httpdns.session(configuration: .default)
    return direct
}

func packetCapture(_ httpdns: HTTPDNS) -> URLSession {
    let packets = Capture(CaptureConfiguration(ringRecords: 500))
    let watched = httpdns.session(configuration: .default, capture: packets)
    packets.stop()
    return watched
}

func trafficStatistics(
    _ httpdns: HTTPDNS, _ injected: URLSessionConfiguration, _ packets: Capture
) -> CaptureStatistics {
    httpdns.install(into: injected, capture: packets)
    var traffic = CaptureStatistics()
    for record in packets.recent { traffic.add(record) }
    print(traffic.byHost["api.example.com"]?.receivedOctets ?? 0)
    return traffic
}

func networkListener(
    _ rules: LiveRules, _ traffic: inout CaptureStatistics
) throws -> URLSession {
    var listening = HTTPDNSConfiguration()
    listening.capture = Capture(CaptureConfiguration(path: "traffic.sqlite"))
    listening.offlineCache = OfflineCacheSettings(directory: "/var/cache/app")
    let heard = try HTTPDNS(listening).session(configuration: .default, rules: rules)
    rules.switches.isOffline = true
    try traffic.add(CaptureFile("traffic.sqlite"))
    return heard
}

func withSettings() throws {
    var settings = HTTPDNSConfiguration()
    var service = try ResolverDescription("aliyun")
    service.account = "100000"
    var google = try ResolverDescription("https://dns.google/dns-query")
    google.bootstrap = [try IPAddress("8.8.8.8")]
    settings.resolvers = [service, google, .system]
    let key = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    let backup = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    try settings.trust.pins.add([key, backup], for: "**.example.com")
    try HTTPDNS(settings).install(into: URLSession.shared)
}

func withAResolverOfOnesOwn(
    _ settings: HTTPDNSConfiguration, host: HostName, address: IPAddress
) async throws {
    var settings = settings
    settings.resolverOptions.strategy = .hedged(after: nil)
    settings.resolverOptions.staleAnswers = StaleAnswers(maximumAge: .seconds(3_600))
    settings.resolverOptions.routes = try RoutingRules("**.corp.example = system")
    settings.resolverOptions.addressPolicy.allowedBlocks = [try AddressBlock("10.0.0.0/8")]
    settings.storePath = "/var/lib/app/answers.sqlite"
    settings.followsNetwork = true
    let resolver = try HTTPDNS(settings).resolver
    resolver.keepHot([host])
    await resolver.preResolve([host])
    let known = resolver.cachedAddresses(for: host)
    print(known.count)
    resolver.report(address, for: host, outcome: .unreachable)
    print(resolver.metrics().snapshot.prometheusText)
    for await event in resolver.eventStream { print(event) }
}

func withAnHTTPStackOfOnesOwn(url: HTTPURL, address: IPAddress) throws -> String {
    let wire = try HostRewriter().rewrite(RequestHead(url: url), to: address)
    return "\(wire.url) \(wire.authority) \(wire.serverName as Any) \(wire.verifyAs)"
}
