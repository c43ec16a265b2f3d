import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct ServiceBindingTests {
    static let foo = "03666f6f 07657861 6d706c65 03636f6d 00"
    static let fooOrg = "03666f6f 07657861 6d706c65 036f7267 00"

    /// A message with one HTTPS record of the given data.
    static func message(_ data: String) -> [UInt8] {
        let data = octets(data)
        return octets("00008180 00000001 00000000 00 0041 0001 00000001 00")
            + [UInt8(data.count)] + data
    }

    /// Source: RFC 9460 Appendix D.1 and D.2.
    @Test(arguments: [
        ("0000" + foo, "0 foo.example.com."), ("0001 00", "1 ."),
        ("0010" + foo + "0003 0002 0035", "16 foo.example.com. port=53"),
        ("0001" + foo + "029b 0005 68656c6c6f", "1 foo.example.com. key667=hello"),
        (
            "0001" + foo + "029b 0009 68656c6c6f d2 716f6f",
            #"1 foo.example.com. key667="hello\210qoo""#
        ),
        (
            "0001" + foo + "0006 0020 20010db8 00000000 00000000 00000001"
                + "20010db8 00000000 00000000 00530001",
            "1 foo.example.com. ipv6hint=2001:db8::1,2001:db8::53:1"
        ),
        (
            "0001 07657861 6d706c65 03636f6d 00 0006 0010 20010db8 01220344 00000000 c0000221",
            "1 example.com. ipv6hint=2001:db8:122:344::c000:221"
        ),
        (
            "0010" + fooOrg + "0000 0004 0001 0004 0001 0009 02 6832 05 68332d3139"
                + "0004 0004 c0000201",
            "16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1"
        ),
        (
            "0010" + fooOrg + "0001 000c 08 665c6f6f2c626172 02 6832",
            #"16 foo.example.org. alpn="f\\\\oo\\,bar,h2""#
        ),
    ])
    func `the vectors of RFC 9460 are read, shown and written`(data: String, text: String) throws {
        let message = try Message(decoding: Self.message(data))
        #expect(message.answers[0].data.presentation(type: .https) == text)
        #expect(try message.encode() == Self.message(data))
    }

    @Test func `ech is shown in Base64 and no-default-alpn as a bare key`() throws {
        let data = "0001 00 0001 0003 02 6832 0002 0000 0005 0004 fe0d0000"
        let message = try Message(decoding: Self.message(data))
        #expect(
            message.answers[0].data.presentation(type: .https)
                == "1 . alpn=h2 no-default-alpn ech=/g0AAA==")
    }

    /// Source: RFC 9460 §2.2, §7 and §8; the failure cases of Appendix D.3 on the wire.
    @Test(arguments: [
        ("the same key twice", "0001 00 029b 0001 61 029b 0001 62"),
        ("keys out of order", "0001 00 0004 0004 c0000201 0003 0002 0035"),
        ("an empty mandatory list", "0001 00 0000 0000"),
        ("half a key in mandatory", "0001 00 0000 0003 000100"),
        ("mandatory lists itself", "0001 00 0000 0002 0000"),
        ("mandatory lists a key twice", "0001 00 0000 0004 0001 0001 0001 0003 02 6832"),
        (
            "mandatory lists keys out of order",
            "0001 00 0000 0004 0003 0001 0001 0003 026832 0003 0002 0035"
        ),
        ("a mandatory key is absent", "0001 00 0000 0002 007b"),
        ("an empty alpn", "0001 00 0001 0000"),
        ("an empty protocol in alpn", "0001 00 0001 0001 00"),
        ("a protocol that runs over", "0001 00 0001 0003 03 6832"),
        ("a value for no-default-alpn", "0001 00 0001 0003 026832 0002 0001 00"),
        ("no-default-alpn without alpn", "0001 00 0002 0000"),
        ("a port of one octet", "0001 00 0003 0001 35"),
        ("an empty ipv4hint", "0001 00 0004 0000"),
        ("half an address in ipv4hint", "0001 00 0004 0006 c0000201 c000"),
        ("an IPv4 address in ipv6hint", "0001 00 0006 0004 c0000201"),
    ])
    func `malformed parameters are refused`(what: String, data: String) {
        let error = #expect(throws: WireError.self, "\(what)") {
            try Message(decoding: Self.message(data))
        }
        #expect(error?.fault == .malformedParameter, "\(what)")
    }

    @Test(arguments: ["0001 00 0003", "0001 00 0003 0003 0035", "0001", "0001 00 00"])
    func `data that ends inside a parameter is too short`(data: String) {
        let error = #expect(throws: WireError.self) { try Message(decoding: Self.message(data)) }
        #expect(error?.fault == .recordTooShort)
    }

    @Test func `the target must not be compressed`() throws {
        let wire = octets(
            "00008180 00010001 00000000 0161 00 0041 0001 c00c 0041 0001 00000000 0004 0001 c00c")
        let error = #expect(throws: WireError.self) { try Message(decoding: wire) }
        #expect(error?.fault == .pointerForbidden)
    }

    @Test func `alias mode keeps parameters without judging their values`() throws {
        let message = try Message(decoding: Self.message("0000 00 0000 0001 07 0003 0001 35"))
        let text = message.answers[0].data.presentation(type: .https)
        #expect(text == #"0 . mandatory="\007" port=5"#)
    }
}
