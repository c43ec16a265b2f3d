import HTTPDNSDigest
import HTTPDNSNames
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
        ("", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        ("abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
    func `SHA-512-256 agrees with FIPS 180-4`(text: String, digest: String) throws {
        #expect(Hex.encoded(try Digest.sha512Half(text.utf8)) == digest)
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
}
