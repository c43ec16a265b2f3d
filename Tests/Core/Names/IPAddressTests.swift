import HTTPDNSNames
import Testing

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("fe80::1%eth0", "fe80::1%eth0"), ("0:0:0:0:0:0:0:0", "::"),
    ])
    func `an address is written as RFC 5952 says`(text: String, canonical: String) throws {
        #expect(try IPAddress(text).description == canonical)
    }

    @Test(arguments: [
        "", "127.1", "0x7f.0.0.1", "0177.0.0.1", "01.2.3.4", "1.2.3", "1.2.3.4.5", "256.1.1.1",
        "1.2.3.4 ", " 1.2.3.4", "1..2.3", "+1.2.3.4", ":", ":::",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "::1::", "12345::", "1:2:3:4:5:6:7::8", "::1%", "::1%a b", "g::", "1.2.3.4::", "::1.2.3",
        "1:2:3:4:5:6:7:1.2.3.4", "[::1]", "٠.0.0.1",
    ])
    func `what other software may read differently is not an address`(text: String) {
        #expect(throws: AddressError.self) { try IPAddress(text) }
    }

    @Test func `an IPv6 address stands in brackets in a URL and loses its zone there`() throws {
        #expect(try IPAddress("fe80::1%eth0").uriText == "[fe80::1]")
        #expect(try IPAddress("192.0.2.1").uriText == "192.0.2.1")
    }

    @Test func `loopback is 127 slash 8 and colon colon 1`() throws {
        #expect(try IPAddress("127.9.9.9").isLoopback)
        #expect(try IPAddress("::1").isLoopback)
        #expect(try !IPAddress("128.0.0.1").isLoopback)
        #expect(try !IPAddress("::2").isLoopback)
    }
}
