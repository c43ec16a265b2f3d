// The answer of an HTTP-DNS service, from octets to addresses: our reader, and Foundation's decoder.
//
//     ParseBench ours|decoder TIMES            prints one line of JSON

import CBenchSupport
import Foundation
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import HTTPDNSWire

/// As a decoder would have it.
struct Body: Decodable {
    let host: String
    let ips: [String]
    let ipsv6: [String]
    let ttl: Int
    let originTTL: Int
    let clientIP: String

    enum CodingKeys: String, CodingKey {
        case host, ips, ipsv6, ttl
        case originTTL = "origin_ttl"
        case clientIP = "client_ip"
    }
}

let text = """
    {"host":"api.example.test","ips":["192.0.2.1","192.0.2.2","192.0.2.3"],\
    "ipsv6":["2001:db8::1"],"ttl":60,"origin_ttl":60,"client_ip":"198.51.100.7"}
    """
let kind = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "ours"
let times = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 1 : 1
let octets = Array(text.utf8)
let data = Data(octets)
let codec = try AliyunCodec(account: "100000", secret: nil)
let question = Question(name: try HostName("api.example.test"), type: .a)
let source = Testimony.Source(resolver: "test", transport: .httpdns)
var addresses = 0
let computed = httpdns_bench_cpu_nanoseconds()
for _ in 0..<times {
    if kind == "decoder" {
        // Only the decoding: turning its texts into addresses comes on top, and is not counted.
        addresses += try JSONDecoder().decode(Body.self, from: data).ips.count
    } else {
        let response = HTTPDNSResponse(status: 200, contentType: "application/json", body: octets)
        addresses += try codec.testimony(from: response, for: question, source: source)
            .answers.count
    }
}
let computing = Double(httpdns_bench_cpu_nanoseconds() - computed)
precondition(addresses == 3 * times)
print("{\"name\":\"\(kind)\",\"cpu_ns\":\(Int(computing / Double(max(1, times))))}")
