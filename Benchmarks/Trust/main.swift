// What it takes to trust a peer through this library; prints one line of JSON:
//
//     TrustBench verify first|anew|known ROOT.pem CHAIN.pem NAME TIMES
//     TrustBench connect|reconnect first|known PORT NAME ROOTS TIMES
//
// `verify` judges a parsed chain, name and pins included. `connect` sends requests to a server that
// closes after each, so that each is a handshake (of `reconnect`: one that goes on with the session
// before; the server has to give some); ROOTS is a hashed directory. `known`: the chain was seen before;
// `first`: nothing is remembered; `anew`: each is remembered, and none is found, since the clock is put
// back each time.

import CBenchSupport
import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTransport
import HTTPDNSTrust

enum TrustFault: Error { case usage, wrongAnswer }

let arguments = CommandLine.arguments
guard arguments.count == 7, let times = Int(arguments[6]), times > 0 else {
    print("usage: TrustBench verify|connect first|known … TIMES")
    throw TrustFault.usage
}
let memo = VerificationMemo(capacity: arguments[2] == "first" ? 0 : 1_024)
let clock = SystemMonotonicClock()

func report(_ begun: Monotonic, _ computed: Int64, per unit: String, _ nanoseconds: Double) {
    let took = Double(clock.now().milliseconds(since: begun)) * 1_000_000 / Double(times)
    let spent = Double(computed) / Double(times)
    print(
        "{\"name\":\"\(arguments[1]) \(arguments[2])\",\"cpu_\(unit)\":\(spent / nanoseconds),"
            + "\"\(unit)\":\(took / nanoseconds)}")
}

func verify() throws {
    let host = Host.name(try HostName(arguments[5]))
    let chain = try Certificate.all(pem: text(arguments[4]))
    let root = try Certificate.all(pem: text(arguments[3]))[0]
    var policy = TrustPolicy(roots: .file(arguments[3]))
    try policy.pins.add(
        [try CertificateReader.facts(of: root).pin], for: HostPattern(exactly: host),
        backup: .waived)
    let verifier = try OpenSSLVerifier(policy: policy, memo: memo)
    let (leaf, intermediates) = (chain[0], Array(chain.dropFirst()))
    let step: Int64 = arguments[2] == "anew" ? 1 : 0
    // From ahead, so that it never gets to before the certificates were made.
    let start = SystemWallClock().now().secondsSince1970 + step * Int64(times + 10)
    var now = WallTime(secondsSince1970: start)
    let judge = {
        now = WallTime(secondsSince1970: now.secondsSince1970 - step)
        let peer = try verifier.verify(
            leaf: leaf, intermediates: intermediates, host: host, at: now)
        guard peer.matchedPin != nil else { throw TrustFault.wrongAnswer }
    }
    for _ in 0..<3 { try judge() }
    let begun = clock.now()
    let computed = httpdns_bench_thread_nanoseconds()
    for _ in 0..<times { try judge() }
    report(begun, httpdns_bench_thread_nanoseconds() - computed, per: "ns", 1)
}

func connect(resumes: Bool) async throws {
    guard let port = Port(arguments[3]) else { throw TrustFault.usage }
    let host = Host.name(try HostName(arguments[4]))
    let verifier = try OpenSSLVerifier(
        policy: TrustPolicy(roots: .directory(arguments[5])), memo: memo)
    let address = try IPAddress("127.0.0.1")
    guard let route = Route(addresses: [address], port: port) else { throw TrustFault.usage }
    let transport = Transport()
    var request = TransportRequest(
        origin: Origin(scheme: .https, host: host, port: port), route: route, method: .get,
        target: "/", verifier: verifier)
    request.version = .http11
    var begun = clock.now()
    var computed = httpdns_bench_cpu_nanoseconds()
    for time in -2..<times {
        // The first two are not counted: libraries start, roots are found.
        if time == 0 {
            begun = clock.now()
            computed = httpdns_bench_cpu_nanoseconds()
        }
        let response = try await transport.collect(request, maximumBodyOctets: 100)
        let isRight = time < 0 || response.facts.isResumed == resumes
        guard response.body.count == 2, response.peer != nil, !response.facts.isReused, isRight
        else {
            throw TrustFault.wrongAnswer
        }
    }
    report(begun, httpdns_bench_cpu_nanoseconds() - computed, per: "us", 1_000)
}

func text(_ path: String) throws -> String {
    guard let octets = SmallFile.read(path, atMost: 1_000_000) else { throw TrustFault.usage }
    return String(decoding: octets, as: UTF8.self)
}

switch arguments[1] {
case "verify": try verify()
case "connect": try await connect(resumes: false)
case "reconnect": try await connect(resumes: true)
default: throw TrustFault.usage
}
