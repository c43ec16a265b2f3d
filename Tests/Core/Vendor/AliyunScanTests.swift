import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSVendor
import Testing

/// The quick reader and the full one say the same, or the quick one says nothing.
@Suite struct AliyunScanTests {
    private static let bodies = [
        #"{"host":"a.test","ips":["192.0.2.234","192.0.2.1"],"ipsv6":["2001:db8::1"],"ttl":57,"#
            + #""origin_ttl":120,"client_ip":"203.0.113.9"}"#,
        #" { "ips" : [ ] , "ttl" : 0 , "host" : "a.test" } "#,
        #"{"host":"a.test","ipsv6":["::","::1","1::","1:2:3:4:5:6:7:8","fe80::1:2","::ffff:1"],"#
            + #""client_ip":"2001:db8::9"}"#,
    ]

    /// True when the quick reader took the body; in any case both must agree.
    private func agree(_ body: [UInt8]) throws -> Bool {
        let codec = try AliyunCodec(account: "1", secret: nil)
        let questions = try Vendor.both("a.test")
        guard let quick = AliyunScan.answers(in: body, to: questions) else { return false }
        let full = try? codec.fullAnswers(in: HTTPDNSResponse(status: 200, body: body))
        #expect(full == quick, "\(String(decoding: body, as: UTF8.self))")
        return true
    }

    @Test(arguments: bodies)
    func `the usual answers are read quickly`(body: String) throws {
        #expect(try agree(Array(body.utf8)))
    }

    @Test(arguments: bodies)
    func `every octet changed to any sign of JSON or of an address leaves both agreed`(
        body: String
    ) throws {
        let octets = Array(body.utf8)
        for place in octets.indices {
            for other in Array("\"\\{}[]:,.0129afgx -%\u{0}\n\u{7F}".utf8) + [0x80, 0xFF] {
                var changed = octets
                changed[place] = other
                _ = try agree(changed)
            }
            _ = try agree(Array(octets[..<place]) + octets[(place + 1)...])
            _ = try agree(Array(octets[..<place]))
            _ = try agree(Array(octets[...place]) + octets[place...])
        }
    }

    @Test(arguments: [
        #"{"host":"a.test","host":"a.test","ips":[]}"#, #"{"host":"A.test","ips":[]}"#,
        #"{"host":"a.test","ips":["192.0.2.01"]}"#, #"{"host":"a.test","extra":"x"}"#,
        #"{"host":"a.test","ttl":-1}"#, #"{"host":"a.test","ttl":1.5}"#, "{}", "",
        #"{"host":"a.test","ttl":99999999999}"#, #"{"host":"a.test","ipsv6":["1:2:3:4:5:6:7::"]}"#,
        #"{"host":"a.test","ipsv6":["::192.0.2.1"]}"#, #"{"host":"a.test","ipsv6":[""]}"#,
        #"{"host":"a.test","ipsv6":[":"]}"#, #"{"host":"a.test","ipsv6":["1:"]}"#,
        #"{"host":"a.test","ipsv6":["1::2::3"]}"#, #"{"code":"InvalidHost"}"#,
    ])
    func `anything unusual is left to the full reader`(body: String) throws {
        #expect(try !agree(Array(body.utf8)))
    }
}
