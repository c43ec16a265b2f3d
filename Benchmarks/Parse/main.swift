// The answer of an HTTP-DNS service, from octets to addresses: our reader, and Foundation's decoder.
//
//     ParseBench ours|testimony|decoder|texts TIMES            prints one line of JSON
//
// `ours` is what the Aliyun codec does with a response: addresses; `testimony` makes DNS records of them
// as well; `decoder` is Foundation's, then its texts read as addresses; `texts` leaves them as texts.

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

enum ParseFault: Error { case usage, theyDiffer }

let text = """
    {"host":"api.example.test","ips":["192.0.2.234","192.0.2.1","192.0.2.7"],\
    "ipsv6":["2001:db8::1"],"ttl":57,"origin_ttl":120,"client_ip":"203.0.113.9"}
    """
let arguments = CommandLine.arguments
guard arguments.count == 3, let times = Int(arguments[2]), times > 0 else {
    print("usage: ParseBench ours|testimony|decoder|texts TIMES")
    throw ParseFault.usage
}
let octets = Array(text.utf8)
let data = Data(octets)
let codec = try AliyunCodec(account: "100000", secret: nil)
let name = try HostName("api.example.test")
let questions = [Question(name: name, type: .a), Question(name: name, type: .aaaa)]
let source = Testimony.Source(resolver: "test", transport: .httpdns)
let response = HTTPDNSResponse(status: 200, contentType: "application/json", body: octets)

// Before the clock starts: both say the same, and both say what stands in the text.
let decoded = try JSONDecoder().decode(Body.self, from: data)
let quick = try codec.answers(in: response, to: questions).named[name]
guard
    let ipv4 = quick?.ipv4?.addresses, let ipv6 = quick?.ipv6?.addresses, ipv4.count == 3,
    ipv4 == (try decoded.ips.map { try IPAddress($0) }),
    ipv6 == (try decoded.ipsv6.map { try IPAddress($0) }), decoded.host == name.text,
    quick?.seconds == UInt32(decoded.ttl)
else { throw ParseFault.theyDiffer }

var addresses = 0
let computed = httpdns_bench_cpu_nanoseconds()
switch arguments[1] {
case "ours":
    for _ in 0..<times {
        let answer = try codec.answers(in: response, to: questions).named[name]
        addresses += answer?.ipv4?.addresses.count ?? 0
    }
case "testimony":
    for _ in 0..<times {
        addresses += try codec.testimony(from: response, for: questions[0], source: source)
            .answers.count
    }
case "decoder":
    for _ in 0..<times {
        let body = try JSONDecoder().decode(Body.self, from: data)
        let read = try (body.ips + body.ipsv6).map { try IPAddress($0) }
        addresses += read.count - 1
    }
case "texts":
    for _ in 0..<times {
        addresses += try JSONDecoder().decode(Body.self, from: data).ips.count
    }
default: throw ParseFault.usage
}
let computing = Double(httpdns_bench_cpu_nanoseconds() - computed)
guard addresses == 3 * times else { throw ParseFault.theyDiffer }
print("{\"name\":\"\(arguments[1])\",\"cpu_ns\":\(Int(computing / Double(times)))}")
