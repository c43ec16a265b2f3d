// A body through HTTPDNSClient alone, in a program that is linked to nothing else; prints one line of
// JSON:
//
//     ClientBench idle|stream|whole URL ROOT.pem
//
// `stream` takes the body in pieces, `whole` as one value, `idle` one small answer: what such a process
// takes whatever it loads. An application that uses the client alone links no Foundation, so that the
// peak of its memory is measured here; `HTTPBench` is linked to Foundation for its other ways.

import CBenchSupport
import HTTPDNS
import HTTPDNSPlatform

enum BenchFault: Error {
    case usage
}

let arguments = CommandLine.arguments
guard arguments.count == 4, ["idle", "stream", "whole"].contains(arguments[1]) else {
    print("usage: ClientBench idle|stream|whole URL ROOT.pem")
    throw BenchFault.usage
}

func client() throws -> HTTPDNSClient {
    var configuration = HTTPDNSConfiguration()
    configuration.resolvers = []
    configuration.overrides = [try HostName("localhost"): [try IPAddress("127.0.0.1")]]
    configuration.trust = TrustPolicy(roots: .file(arguments[3]))
    configuration.resolverTrust = configuration.trust
    return try HTTPDNS(configuration).client
}

func octets(of response: HTTPResponse) async throws -> Int {
    if arguments[1] == "whole" { return try await response.collect(upTo: 1 << 30).body.count }
    var count = 0
    for try await chunk in response.body { count += chunk.count }
    return count
}

let (made, request) = (try client(), HTTPRequest(.get, try HTTPURL(arguments[2])))
// libcurl is opened with the first request, before the clock starts, as it is on the other sides; the
// connection is another host's.
let other = HTTPRequest(.get, try HTTPURL("http://127.0.0.1:\(request.head.url.origin.port)/small"))
_ = try await made.send(other).collect(upTo: 1_000)
let clock = SystemMonotonicClock()
let begun = (clock: clock.now(), computing: httpdns_bench_cpu_nanoseconds())
let count = try await octets(of: made.send(request))
let took = Double(clock.now().nanoseconds - begun.clock.nanoseconds)
let computing = Double(httpdns_bench_cpu_nanoseconds() - begun.computing)
print(
    "{\"name\":\"\(arguments[1])\",\"octets\":\(count),\"mb_per_s\":\(Double(count) * 1_000 / took),"
        + "\"cpu_ms\":\(computing / 1_000_000),"
        + "\"peak_octets\":\(httpdns_bench_peak_resident_octets())}")
