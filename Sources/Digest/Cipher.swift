internal import CHTTPDNSOpenSSL

/// A cipher with its key, as HTTP-DNS services prescribe it. By OpenSSL.
///
/// What it seals stands in one piece: IV, ciphertext, tag; a part that the algorithm lacks is empty.
/// The authenticated algorithm compares its tag in constant time (OpenSSL's own comparison); of the
/// others only "cannot be opened" is told, so that no one learns from us whether padding was right.
package struct Cipher: Sendable {
    /// The raw value is the spelling in provider profiles.
    package enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// PKCS#7 padding. Source: NIST SP 800-38A §6.2, RFC 5652 §6.3.
        case aes128CBC = "aes-128-cbc"
        /// A tag of 128 bits, no associated data. Source: NIST SP 800-38D.
        case aes128GCM = "aes-128-gcm"
        /// PKCS#7 padding. Hides no repetition; only for services that know nothing else.
        case aes256ECB = "aes-256-ecb"
        /// PKCS#7 padding. 56 bits of key: only for services that know nothing else.
        case desECB = "des-ecb"

        package var keyOctets: Int {
            switch self {
            case .aes128CBC, .aes128GCM: 16
            case .aes256ECB: 32
            case .desECB: 8
            }
        }

        package var ivOctets: Int {
            switch self {
            case .aes128CBC: 16
            case .aes128GCM: 12
            case .aes256ECB, .desECB: 0
            }
        }

        package var tagOctets: Int { self == .aes128GCM ? 16 : 0 }

        fileprivate var blockOctets: Int {
            switch self {
            case .aes128CBC, .aes256ECB: 16
            case .aes128GCM: 1
            case .desECB: 8
            }
        }
    }

    package let algorithm: Algorithm
    private let key: [UInt8]

    /// - Throws: ``CipherError/keyLength(_:expected:)``.
    package init(_ algorithm: Algorithm, key: [UInt8]) throws(CipherError) {
        guard key.count == algorithm.keyOctets else {
            throw .keyLength(key.count, expected: algorithm.keyOctets)
        }
        self.algorithm = algorithm
        self.key = key
    }

    /// IV, ciphertext and tag. An IV must never come twice with one key.
    package func sealed(_ plain: [UInt8], iv: [UInt8]) throws(CipherError) -> [UInt8] {
        guard iv.count == algorithm.ivOctets else { throw .ivLength(iv.count) }
        let pass = try CipherPass.begun(algorithm, key: key, iv: iv, seals: true)
        let ciphertext = try pass.finished(plain)
        return iv + ciphertext + (try pass.tag(algorithm.tagOctets))
    }

    /// IV, ciphertext and tag, with an IV of the system's generator.
    package func sealed(_ plain: [UInt8]) throws(CipherError) -> [UInt8] {
        try sealed(plain, iv: Cipher.randomOctets(algorithm.ivOctets))
    }

    /// What was sealed.
    ///
    /// - Throws: ``CipherError/truncated``, ``CipherError/cannotOpen``.
    package func opened(_ sealed: [UInt8]) throws(CipherError) -> [UInt8] {
        let ciphertextCount = sealed.count - algorithm.ivOctets - algorithm.tagOctets
        let isPadded = algorithm.blockOctets > 1
        guard ciphertextCount >= (isPadded ? algorithm.blockOctets : 0) else { throw .truncated }
        guard ciphertextCount.isMultiple(of: algorithm.blockOctets) else { throw .truncated }
        let iv = Array(sealed.prefix(algorithm.ivOctets))
        let ciphertext = Array(sealed.dropFirst(iv.count).prefix(ciphertextCount))
        let pass = try CipherPass.begun(algorithm, key: key, iv: iv, seals: false)
        try pass.expect(tag: Array(sealed.suffix(algorithm.tagOctets)))
        return try pass.finished(ciphertext)
    }

    /// Octets of the system's generator.
    package static func randomOctets(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

extension Cipher: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { algorithm.rawValue + " (key hidden)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm]) }
}

/// Why a cipher could not be used.
package enum CipherError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The TLS library does not offer the algorithm; the text says what is missing.
    case unavailable(String)
    case keyLength(Int, expected: Int)
    case ivLength(Int)
    /// Shorter than IV, one block and tag, or not whole blocks.
    case truncated
    /// Wrong key, damaged, or forged: which one is not told.
    case cannotOpen

    package var description: String {
        switch self {
        case .unavailable(let what): what
        case .keyLength(let count, let expected):
            "the key has \(count) octets; the cipher takes \(expected)"
        case .ivLength(let count): "an initialization vector of \(count) octets does not fit"
        case .truncated: "the ciphertext is cut short"
        case .cannotOpen: "the ciphertext cannot be opened with this key"
        }
    }
}

/// One use of OpenSSL's cipher machinery.
private struct CipherPass: ~Copyable {
    private let raw: OpaquePointer
    private let algorithm: Cipher.Algorithm
    private let seals: Bool

    private init(_ raw: OpaquePointer, _ algorithm: Cipher.Algorithm, seals: Bool) {
        self.raw = raw
        self.algorithm = algorithm
        self.seals = seals
    }

    static func begun(
        _ algorithm: Cipher.Algorithm, key: [UInt8], iv: [UInt8], seals: Bool
    ) throws(CipherError) -> CipherPass {
        let cipher = try CipherPass.cipher(algorithm)
        guard let raw = EVP_CIPHER_CTX_new() else { throw .unavailable("OpenSSL has no memory") }
        let pass = CipherPass(raw, algorithm, seals: seals)
        guard EVP_CipherInit_ex(raw, cipher, nil, key, iv, seals ? 1 : 0) == 1 else {
            ERR_clear_error()
            throw .unavailable("this system's OpenSSL refuses \(algorithm.rawValue)")
        }
        return pass
    }

    deinit { EVP_CIPHER_CTX_free(raw) }

    private static func cipher(
        _ algorithm: Cipher.Algorithm
    ) throws(CipherError) -> OpaquePointer? {
        switch algorithm {
        case .aes128CBC: EVP_aes_128_cbc()
        case .aes128GCM: EVP_aes_128_gcm()
        case .aes256ECB: EVP_aes_256_ecb()
        case .desECB: try LegacyCiphers.shared.get().des
        }
    }

    borrowing func expect(tag: [UInt8]) throws(CipherError) {
        guard !tag.isEmpty else { return }
        var tag = tag
        guard let count = Int32(exactly: tag.count),
            EVP_CIPHER_CTX_ctrl(raw, EVP_CTRL_AEAD_SET_TAG, count, &tag) == 1
        else { throw failure() }
    }

    /// Runs all octets through and ends the pass.
    borrowing func finished(_ octets: [UInt8]) throws(CipherError) -> [UInt8] {
        guard let count = Int32(exactly: octets.count), count < Int32.max - 64 else {
            throw .truncated
        }
        var output = [UInt8](repeating: 0, count: octets.count + 32)
        var written: Int32 = 0
        var last: Int32 = 0
        guard EVP_CipherUpdate(raw, &output, &written, octets, count) == 1 else {
            throw failure()
        }
        let start = Int(written)
        let isWhole = output.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, start + 32 <= buffer.count else { return false }
            return EVP_CipherFinal_ex(raw, base + start, &last) == 1
        }
        guard isWhole else { throw failure() }
        return Array(output.prefix(start + Int(last)))
    }

    borrowing func tag(_ count: Int) throws(CipherError) -> [UInt8] {
        guard count > 0 else { return [] }
        var tag = [UInt8](repeating: 0, count: count)
        guard EVP_CIPHER_CTX_ctrl(raw, EVP_CTRL_AEAD_GET_TAG, Int32(clamping: count), &tag) == 1
        else { throw failure() }
        return tag
    }

    private borrowing func failure() -> CipherError {
        ERR_clear_error()
        return seals ? .unavailable("\(algorithm.rawValue) failed") : .cannotOpen
    }
}

/// DES, which OpenSSL 3 keeps in its legacy provider.
///
/// The provider is loaded into a library context of our own: in the default context it would open
/// its ciphers to TLS and to every other user of OpenSSL in the process, and loading anything there
/// by name turns the implicit default provider off.
private struct LegacyCiphers: @unchecked Sendable {
    // Safety: set once before it is shared; OpenSSL counts references of a fetched cipher atomically.
    let des: OpaquePointer

    static let shared: Result<LegacyCiphers, CipherError> = load()

    /// The context, the provider and the cipher live as long as the process.
    private static func load() -> Result<LegacyCiphers, CipherError> {
        defer { ERR_clear_error() }
        let advice = "; choose the service's AES or https form instead"
        guard let context = OSSL_LIB_CTX_new() else {
            return .failure(.unavailable("OpenSSL has no memory"))
        }
        guard let provider = OSSL_PROVIDER_load(context, "legacy") else {
            OSSL_LIB_CTX_free(context)
            return .failure(
                .unavailable(
                    "DES needs OpenSSL's legacy provider (legacy.so), which is not installed here"
                        + advice))
        }
        guard let des = EVP_CIPHER_fetch(context, "DES-ECB", nil) else {
            OSSL_PROVIDER_unload(provider)
            OSSL_LIB_CTX_free(context)
            return .failure(
                .unavailable("this system's OpenSSL has a legacy provider without DES" + advice))
        }
        return .success(LegacyCiphers(des: des))
    }
}
