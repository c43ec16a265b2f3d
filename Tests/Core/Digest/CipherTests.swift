import HTTPDNSDigest
import HTTPDNSNames
import Testing

@Suite struct CipherTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let algorithm: Cipher.Algorithm
        let key: String
        let iv: String
        let plain: String
        let sealed: String

        var testDescription: String { algorithm.rawValue + " " + plain }
    }

    static let vectors = [
        Vector(
            algorithm: .aes128CBC, key: "0f0e0d0c0b0a09080706050403020100",
            iv: "000102030405060708090a0b0c0d0e0f",
            plain: #"{"dn":"www.aliyun.com","q":"4,6"}"#,
            sealed: "000102030405060708090a0b0c0d0e0f13d66c2eee1dce342dd96b281836a7be7ab6597c"
                + "cff3b8c144611e7d3426eb17b0d037026f80830879107681db171011"),
        Vector(
            algorithm: .aes128GCM, key: "0f0e0d0c0b0a09080706050403020100",
            iv: "000102030405060708090a0b", plain: #"{"dn":"www.aliyun.com","q":"4,6"}"#,
            sealed: "000102030405060708090a0b0fc93ebcfc1f846b909fabbed5623fc302cc842571170b96"
                + "29f55a1a6c0b751033822cdf648cc96e6d8d929bd7ed0b81ec"),
        Vector(
            algorithm: .aes256ECB,
            key: "6f4231713645463872475570643171784274636d0c0c0c0c0c0c0c0c0c0c0c0c", iv: "",
            plain: "www.yunaq.com", sealed: "a235973909cf558d42f69b1c430d11b9"),
        Vector(
            algorithm: .desECB, key: "646e73706f647061", iv: "", plain: "www.dnspod.cn",
            sealed: "87ae992c1321f299da3c0210a9900ae7"),
    ]

    private func cipher(_ vector: Vector) throws -> Cipher {
        try Cipher(vector.algorithm, key: try #require(Hex.decoded(vector.key)))
    }

    @Test(arguments: vectors)
    func `each cipher agrees with the published vectors both ways`(vector: Vector) throws {
        let cipher = try cipher(vector)
        let iv = try #require(Hex.decoded(vector.iv))
        let sealed = try cipher.sealed(Array(vector.plain.utf8), iv: iv)
        #expect(Hex.encoded(sealed) == vector.sealed)
        #expect(String(decoding: try cipher.opened(sealed), as: UTF8.self) == vector.plain)
    }

    @Test(arguments: vectors)
    func `a piece that is cut short anywhere is refused`(vector: Vector) throws {
        let cipher = try cipher(vector)
        let sealed = try #require(Hex.decoded(vector.sealed))
        for count in 0..<sealed.count {
            #expect(throws: CipherError.self) { try cipher.opened(Array(sealed.prefix(count))) }
        }
    }

    @Test(arguments: vectors)
    func `another key opens nothing`(vector: Vector) throws {
        let key = try #require(Hex.decoded(vector.key)).map { $0 ^ 0x55 }
        let sealed = try #require(Hex.decoded(vector.sealed))
        let other = try Cipher(vector.algorithm, key: key)
        // Padding may be right by chance, the text never.
        let opened = try? other.opened(sealed)
        #expect(opened != Array(vector.plain.utf8))
        #expect(vector.algorithm != .aes128GCM || opened == nil)
    }

    @Test func `a single flipped bit spoils an authenticated piece`() throws {
        let vector = Self.vectors[1]
        let sealed = try #require(Hex.decoded(vector.sealed))
        for index in sealed.indices {
            var flipped = sealed
            flipped[index] ^= 1
            #expect(throws: CipherError.cannotOpen) { try cipher(vector).opened(flipped) }
        }
    }

    @Test func `padding that is no padding is refused`() throws {
        // One block of sixteen octets 0x41 sealed without padding: opened, it ends in no PKCS#7.
        let key = [UInt8](repeating: 7, count: 32)
        let cipher = try Cipher(.aes256ECB, key: key)
        let sealed = try cipher.sealed([UInt8](repeating: 0x41, count: 16), iv: [])
        #expect(throws: CipherError.cannotOpen) { try cipher.opened(Array(sealed.prefix(16))) }
    }

    @Test(arguments: Cipher.Algorithm.allCases)
    func `a piece of a random IV opens, and no two are alike`(
        algorithm: Cipher.Algorithm
    ) throws {
        let cipher = try Cipher(algorithm, key: Array(0..<UInt8(algorithm.keyOctets)))
        for count in [0, 1, 7, 8, 15, 16, 17, 1_000] {
            let plain = Cipher.randomOctets(count)
            let first = try cipher.sealed(plain)
            #expect(try cipher.opened(first) == plain)
            if algorithm.ivOctets > 0 { #expect(try cipher.sealed(plain) != first) }
        }
    }

    @Test(arguments: Cipher.Algorithm.allCases)
    func `a key or an IV of another length is refused`(algorithm: Cipher.Algorithm) throws {
        #expect(throws: CipherError.keyLength(5, expected: algorithm.keyOctets)) {
            try Cipher(algorithm, key: [1, 2, 3, 4, 5])
        }
        let cipher = try Cipher(algorithm, key: [UInt8](repeating: 1, count: algorithm.keyOctets))
        #expect(throws: CipherError.ivLength(3)) { try cipher.sealed([1], iv: [1, 2, 3]) }
    }

    @Test func `a cipher does not show its key`() throws {
        let cipher = try Cipher(.aes128CBC, key: Array("0123456789abcdef".utf8))
        var text = "\(cipher) \(String(reflecting: cipher))"
        dump(cipher, to: &text)
        #expect(!text.contains("48"))
        #expect(text.contains("aes-128-cbc (key hidden)"))
    }
}
