import CHTTPDNSOpenSSL
import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// AES-128-GCM by OpenSSL's own calls, not the laboratory's; nil when the tag is wrong.
func openedGCM(_ sealed: [UInt8], key: [UInt8]) -> [UInt8]? {
    guard sealed.count >= 28, let context = EVP_CIPHER_CTX_new() else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    let vector = Array(sealed.prefix(12))
    let text = Array(sealed.dropFirst(12).dropLast(16))
    var tag = Array(sealed.suffix(16))
    var plain = [UInt8](repeating: 0, count: text.count + 16)
    var count: Int32 = 0
    guard EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, vector) == 1,
        EVP_DecryptUpdate(context, &plain, &count, text, Int32(text.count)) == 1,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1,
        EVP_DecryptFinal_ex(context, &plain[Int(count)], &count) == 1
    else { return nil }
    return Array(plain.prefix(text.count))
}

/// The options of `openssl enc -d` for each cipher of a vendor.
enum VendorCipher: String, CaseIterable, Sendable {
    case tencentDES
    case tencentAES
    case aliyunCBC
    case yunaq

    var options: [String] {
        switch self {
        case .tencentDES:
            [
                "-des-ecb", "-provider", "legacy", "-provider", "default", "-K",
                Hex.encoded("dnspodpa".utf8),
            ]
        case .tencentAES: ["-aes-128-cbc", "-K", Hex.encoded("0123456789abcdef".utf8)]
        case .aliyunCBC: ["-aes-128-cbc", "-K", "0f0e0d0c0b0a09080706050403020100"]
        case .yunaq:
            [
                "-aes-256-ecb", "-K",
                Hex.encoded("oB1q6EF8rGUpd1qxBtcm".utf8) + String(repeating: "0c", count: 12),
            ]
        }
    }

    private var hasVector: Bool { self == .tencentAES || self == .aliyunCBC }

    /// By the openssl tool; nil when it refuses.
    func opened(_ sealed: [UInt8]) async throws -> String? {
        let vector = hasVector ? ["-iv", Hex.encoded(sealed.prefix(16))] : []
        let result = try await run(
            "openssl", ["enc", "-d"] + options + vector,
            input: hasVector ? Array(sealed.dropFirst(16)) : sealed)
        return result.status == 0 ? result.outputText : nil
    }

    /// By the openssl tool, with a vector of zeros.
    func sealed(_ text: String) async throws -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 16)
        let vector = hasVector ? ["-iv", Hex.encoded(zeros)] : []
        let octets = try await openssl(["enc"] + options + vector, Array(text.utf8))
        return hasVector ? zeros + octets : octets
    }
}

@Suite struct CipherTests {
    @Test(.enabled(if: ProviderVectors.arePresent && LabHTTPDNSServer.speaksDES))
    func `Tencent's DES is the vendor's example, there and back`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let sealed = try ProviderVectors.text("tencent_des", "hex")
        let heard = try await lab.get("/d?dn=\(sealed)&id=1&alg=des&ttl=1&clientip=1")
        #expect(heard.body == (try ProviderVectors.text("tencent_des_resp", "hex")))
        #expect(lab.service.events.map(\.names) == [["www.dnspod.cn"]])
        #expect(lab.service.events.map(\.isEncrypted) == [true])
    }

    @Test(.enabled(if: ProviderVectors.arePresent))
    func `Tencent's AES opens the vectors, and openssl opens the answer`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        for name in ["hex", "ios_1_12_hex"] {
            let sealed = try ProviderVectors.text("tencent_aes", name)
            let heard = try await lab.get("/d?dn=\(sealed)&id=2&alg=aes&ttl=1&clientip=1")
            let octets = try #require(Hex.decoded(heard.body))
            #expect(heard.body == heard.body.lowercased())
            let plain = try await VendorCipher.tencentAES.opened(octets)
            #expect(plain == (try ProviderVectors.text("tencent_aes", "resp_pt")))
        }
        #expect(lab.service.events.map(\.isSigned) == [false, true])
    }

    @Test func `an account that demands an end of validity gets 401 without one`() async throws {
        let lab = try LabVendors { settings in
            for index in settings.accounts.indices {
                settings.accounts[index].demandsTimestamp = true
            }
        }
        defer { lab.stop() }
        for (text, status) in [
            ("www.dnspod.cn", 401), ("www.dnspod.cn;1749999999", 401),
            ("www.dnspod.cn;1750000600", 200), ("www.dnspod.cn,www.a.com;1750000600", 200),
            ("www.dnspod.cn;1750090000", 401),
        ] {
            let sealed = Hex.encoded(try await VendorCipher.tencentAES.sealed(text))
            let heard = try await lab.get("/d?dn=\(sealed)&id=2&alg=aes")
            #expect(heard.status == status, "\(text)")
        }
    }

    @Test func `Tencent's client address may be encrypted or not, its configuration is`()
        async throws
    {
        let lab = try LabVendors()
        defer { lab.stop() }
        let name = Hex.encoded(try await VendorCipher.tencentAES.sealed("www.dnspod.cn"))
        let client = Hex.encoded(try await VendorCipher.tencentAES.sealed("198.51.100.1"))
        for client in [client, "198.51.100.2"] {
            _ = try await lab.get("/d?dn=\(name)&id=2&alg=aes&ip=\(client)")
        }
        #expect(lab.service.events.map(\.client) == ["198.51.100.1", "198.51.100.2"])
        let heard = try await lab.get("/conf?id=2&alg=aes")
        let plain = try await VendorCipher.tencentAES.opened(
            try #require(Hex.decoded(heard.body)))
        #expect(plain == "log:1|domain:0|ip:127.0.0.1|ttl:60")
    }

    @Test(.enabled(if: ProviderVectors.arePresent), arguments: ["1", "2"])
    func `Aliyun's second interface opens the vectors and answers sealed`(
        mode: String
    ) async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        let enc = try ProviderVectors.text("aliyun_v2_m\(mode)", "enc")
        let s = try ProviderVectors.text("aliyun_v2_m\(mode)", "s")
        let heard = try await lab.get(
            "/v2/d?id=100000&m=\(mode)&v=1.0&exp=1750000000&enc=\(enc)&s=\(s)")
        #expect(try heard.json()["mode"]?.integer == Int64(mode))
        #expect(try heard.json()["code"] == "success")
        let sealed = try #require(Base64.decoded(try heard.json()["data"]?.string ?? ""))
        let key = try #require(Hex.decoded("0f0e0d0c0b0a09080706050403020100"))
        let plain =
            mode == "2"
            ? openedGCM(sealed, key: key).map { String(decoding: $0, as: UTF8.self) }
            : try await VendorCipher.aliyunCBC.opened(sealed)
        #expect(
            plain == #"{"cip":"203.0.113.7","answers":[{"dn":"www.aliyun.com","#
                + #""v4":{"ips":["192.0.2.10"],"ttl":60},"v6":{"ips":["2001:db8::10"],"ttl":60}}]}"#
        )
        #expect(lab.service.events.map(\.isSigned) == [true])
    }

    @Test(arguments: [true, false])
    func `Yunaq's AES is taken in both encodings, and answered in the same`(
        isHex: Bool
    ) async throws {
        let lab = try LabVendors(at: 1_576_468_700)
        defer { lab.stop() }
        let octets = try await VendorCipher.yunaq.sealed("www.yunaq.com")
        if ProviderVectors.arePresent {
            #expect(Hex.encoded(octets) == (try ProviderVectors.text("yunaq_aes", "hex")))
        }
        let escaped = Base64.encoded(octets).split(separator: "=").joined() + "%3D%3D"
        let host = isHex ? Hex.encoded(octets) : escaped
        let heard = try await lab.get(
            "/?host=\(host)&account_id=y&t=1576468800&encrypt=1"
                + "&sign=1f8c93f4853b8a9cc179b54ea7e0e2f6")
        let sealed = isHex ? Hex.decoded(heard.body) : Base64.decoded(heard.body)
        let plain = try await VendorCipher.yunaq.opened(try #require(sealed, "\(heard.text)"))
        #expect(plain == #"{"ips":["192.0.2.40"],"ttl":300,"host":"www.yunaq.com"}"#)
    }

    /// Damage to a sealed answer, by Tencent's ciphers: what is left when the key is right.
    @Test(arguments: [LabCipherFault.wrongKey, .truncatedVector, .badPadding])
    func `a damaged answer does not open with the right key`(
        fault: LabCipherFault
    ) async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        var ciphers = [(VendorCipher.tencentAES, "2", "aes")]
        if LabHTTPDNSServer.speaksDES { ciphers.append((.tencentDES, "1", "des")) }
        for (cipher, identifier, algorithm) in ciphers {
            let name = Hex.encoded(try await cipher.sealed("www.dnspod.cn"))
            let path = "/d?dn=\(name)&id=\(identifier)&alg=\(algorithm)"
            lab.service.misbehave([.cipher(fault)], first: 1)
            let bad = try #require(Hex.decoded(try await lab.get(path).body))
            #expect(fault != .truncatedVector || bad.count < 16)
            #expect(try await cipher.opened(bad) != "192.0.2.1;192.0.2.2")
            let good = try #require(Hex.decoded(try await lab.get(path).body))
            #expect(try await cipher.opened(good) == "192.0.2.1;192.0.2.2")
        }
    }

    @Test func `padding is bad in its last octet alone`() async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        lab.service.misbehave(.cipher(.badPadding))
        let name = Hex.encoded(try await VendorCipher.tencentAES.sealed("www.dnspod.cn"))
        let body = try await lab.get("/d?dn=\(name)&id=2&alg=aes").body
        let sealed = try #require(Hex.decoded(body))
        let plain = try await openssl(
            ["enc", "-d", "-nopad"] + VendorCipher.tencentAES.options
                + ["-iv", Hex.encoded(sealed.prefix(16))], Array(sealed.dropFirst(16)))
        #expect(plain.prefix(19) == Array("192.0.2.1;192.0.2.2".utf8)[...])
        #expect(plain.dropFirst(19).dropLast() == [UInt8](repeating: 13, count: 12)[...])
        #expect(plain.last == 17)
    }

    @Test(arguments: [true, false])
    func `a flipped tag is all that is wrong`(isFlipped: Bool) async throws {
        let lab = try LabVendors()
        defer { lab.stop() }
        if isFlipped { lab.service.misbehave(.cipher(.flippedTag)) }
        let enc =
            "000102030405060708090a0b0fc93ebcfc1f846b909fabbed5623fc302cc842571170b9629f55a1a6c"
            + "0b751033822cdf648cc96e6d8d929bd7ed0b81ec"
        let heard = try await lab.get("/v2/d?id=100000&m=2&enc=\(enc)")
        var sealed = try #require(Base64.decoded(try heard.json()["data"]?.string ?? ""))
        let key = try #require(Hex.decoded("0f0e0d0c0b0a09080706050403020100"))
        #expect((openedGCM(sealed, key: key) == nil) == isFlipped)
        sealed[sealed.count - 1] ^= 1
        #expect((openedGCM(sealed, key: key) == nil) != isFlipped)
    }
}
