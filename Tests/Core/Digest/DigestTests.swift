import HTTPDNSDigest
import Testing

@Suite struct DigestTests {
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    ])
    func `MD5 agrees with RFC 1321`(text: String, digest: String) throws {
        #expect(try Digest.md5Hex(text.utf8) == digest)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `SHA-256 agrees with FIPS 180-4`(text: String, digest: String) throws {
        #expect(Hex.encoded(try Digest.sha256(text.utf8)) == digest)
    }

    @Test(arguments: [
        (
            "Jefe", "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func `HMAC-SHA-256 agrees with RFC 4231`(key: String, message: String, code: String) throws {
        #expect(
            Hex.encoded(try Digest.hmacSHA256(key: key.utf8, message: message.utf8)) == code)
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `base64 agrees with RFC 4648 both ways`(plain: String, encoded: String) {
        #expect(Base64.encoded(Array(plain.utf8)) == encoded)
        #expect(Base64.decoded(encoded) == Array(plain.utf8))
        let bare = encoded.replacing("=", with: "")
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
