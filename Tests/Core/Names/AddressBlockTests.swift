import HTTPDNSNames
import Testing

@Suite struct AddressBlockTests {
    @Test(arguments: [
        ("192.0.2.77/24", "192.0.2.0/24"), ("192.0.2.77", "192.0.2.77/32"),
        ("2001:db8:ffff::1/33", "2001:db8:8000::/33"), ("2001:db8::1/64", "2001:db8::/64"),
        ("10.0.0.1/0", "0.0.0.0/0"), ("::1/128", "::1/128"),
        ("2001:db8::ff/121", "2001:db8::80/121"),
    ]) func `a block keeps the bits of its prefix alone`(text: String, kept: String) throws {
        #expect(try AddressBlock(text).description == kept)
    }

    @Test(arguments: [
        "", "/24", "192.0.2.0/", "192.0.2.0/33", "192.0.2.0/-1", "192.0.2.0/+8", "192.0.2.0/8 ",
        "::/129", "fe80::1%eth0", "fe80::1%eth0/64", "192.0.2.0/24/8", "192.0.2.0/0x8",
    ]) func `what is no block says why`(text: String) {
        let error = #expect(throws: AddressBlockError.self) { try AddressBlock(text) }
        #expect(error?.description.isEmpty == false)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.0.0.0/8", "::a00:1", false), ("2001:db8::/63", "2001:db8:0:1::5", true),
        ("2001:db8::/63", "2001:db8:0:2::5", false),
        ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("0.0.0.0/0", "255.255.255.255", true),
        ("::1/128", "::2", false),
    ]) func `a block holds the addresses that share its prefix`(
        block: String, address: String, isInside: Bool
    ) throws {
        #expect(try AddressBlock(block).contains(try IPAddress(address)) == isInside)
    }

    @Test(arguments: [
        "0.0.0.0", "255.254.253.252", "::", "::1", "2001:db8::1", "::ffff:192.0.2.1",
        "102:304:506:708:90a:b0c:d0e:f10",
    ]) func `an address is the same from its text, its octets and its number`(text: String) throws {
        let address = try IPAddress(text)
        #expect(IPAddress(octets: address.octets) == address)
        #expect(
            IPAddress(family: address.family, high: address.high, low: address.low) == address)
        #expect(address.description == text)
    }
}
