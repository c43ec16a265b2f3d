import HTTPDNSNames
import Testing

@Suite struct OctetTextTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ("\u{3f}\u{3e}\u{7f}~", "Pz5/fg=="),
    ])
    func `base64 agrees with RFC 4648 both ways`(plain: String, encoded: String) {
        #expect(Base64.encoded(Array(plain.utf8)) == encoded)
        #expect(Base64.decoded(encoded) == Array(plain.utf8))
        let bare = encoded.replacing("=", with: "").replacing("/", with: "_")
        #expect(Base64.urlEncoded(Array(plain.utf8)) == bare)
        #expect(Base64.urlDecoded(bare) == Array(plain.utf8))
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zh==", "Zg==\n", " Zg==", "Z", "====", "Zg==Zg==", "-_-_", "Zm9v=", "Zé==",
    ])
    func `base64 that is not canonical is refused`(text: String) {
        #expect(Base64.decoded(text) == nil)
    }

    @Test(arguments: ["Zg==", "Zh", "Z", "+/+/", "Zm9vYg="])
    func `base64url with padding, spare bits or the other alphabet is refused`(text: String) {
        #expect(Base64.urlDecoded(text) == nil)
    }

    @Test func `every octet survives each encoding`() {
        let octets = (0...255).map { UInt8($0) }
        #expect(Base64.decoded(Base64.encoded(octets)) == octets)
        #expect(Base64.urlDecoded(Base64.urlEncoded(octets)) == octets)
        #expect(Hex.decoded(Hex.encoded(octets)) == octets)
        #expect(Hex.decoded("00fFAb") == [0, 0xFF, 0xAB])
    }

    @Test(arguments: ["0", "0g", "é0", " 0"]) func `bad hexadecimal is refused`(text: String) {
        #expect(Hex.decoded(text) == nil)
    }
}
