public import HTTPDNSNames

/// The kind of a private key that the laboratory mints.
public enum TestKeyKind: Sendable, Hashable {
    /// ECDSA on P-256: quick to make, accepted everywhere; the default.
    case p256
    /// ECDSA on P-384.
    case p384
    /// RSA with 1,024 bits, which no client should accept. Source: CA/B BR §6.1.5.
    case rsa1024
    /// RSA with 2,048 bits: slow to make (tens of milliseconds).
    case rsa2048
    /// RSA with 4,096 bits: takes a second to make, sometimes more.
    case rsa4096
    /// RSA with 8,192 bits, of five primes: takes a second or two to make.
    case rsa8192
    /// Ed25519. Source: RFC 8410.
    case ed25519

    var isRSA: Bool {
        switch self {
        case .rsa1024, .rsa2048, .rsa4096, .rsa8192: true
        case .p256, .p384, .ed25519: false
        }
    }
}

/// The digest that a certificate's signature is over; of no effect where an Ed25519 key signs.
public enum TestDigest: Sendable, Hashable {
    /// SHA-256, the default.
    case sha256
    /// SHA-384.
    case sha384
    /// SHA-512.
    case sha512
    /// SHA-1, which no client should accept. Source: CA/B BR §7.1.3.2.
    case sha1
    /// MD5, broken since 2008. Source: RFC 6151.
    case md5
}

/// One subject alternative name, good or bad: the octets go into the certificate as they are.
public struct TestName: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Which form of `GeneralName` the octets stand in. Source: RFC 5280 §4.2.1.6.
    public enum Kind: Sendable, Hashable {
        /// `dNSName`.
        case dns
        /// `iPAddress`.
        case address
    }

    /// The form of the name.
    public let kind: Kind
    /// The octets in the certificate, unchecked.
    public let octets: [UInt8]

    /// A DNS name of any octets: upper case, wildcards, NUL, an address as text.
    public static func dns(octets: [UInt8]) -> TestName { TestName(kind: .dns, octets: octets) }

    /// A DNS name.
    public static func dns(_ text: String) -> TestName { dns(octets: Array(text.utf8)) }

    /// An IP address in its binary form.
    public static func address(_ address: IPAddress) -> TestName {
        TestName(kind: .address, octets: address.octets)
    }

    /// An address of any octets; a well-formed one has 4 or 16.
    public static func address(octets: [UInt8]) -> TestName {
        TestName(kind: .address, octets: octets)
    }

    /// A DNS name.
    public init(stringLiteral text: String) { self = .dns(text) }

    private init(kind: Kind, octets: [UInt8]) {
        self.kind = kind
        self.octets = octets
    }
}

/// When a certificate is valid, both ends included. Source: RFC 5280 §4.1.2.5.
public struct TestValidity: Sendable, Hashable {
    /// The first second.
    public let notBefore: WallTime
    /// The last second.
    public let notAfter: WallTime

    /// The moments need not be in order: a bad certificate is a test case.
    public init(notBefore: WallTime, notAfter: WallTime) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// From one hour ago for `seconds` from now.
    public static func fromNow(seconds: Int64) -> TestValidity {
        let now = labWallTime().secondsSince1970
        return TestValidity(
            notBefore: WallTime(secondsSince1970: now - hour),
            notAfter: WallTime(secondsSince1970: saturatedSum(now, seconds)))
    }

    /// From one hour ago to 30 days from now.
    public static var current: TestValidity { .fromNow(seconds: 30 * 24 * hour) }

    /// Ended an hour ago, after a day.
    public static var expired: TestValidity { around(from: -25 * hour, to: -hour) }

    /// Begins in a day.
    public static var notYet: TestValidity { around(from: 24 * hour, to: 48 * hour) }

    /// 2020 to 2049: what certificates of a seeded authority get, so that equal seeds give equal
    /// certificates on every day.
    public static let seeded = TestValidity(
        // Source: 2020-01-01T00:00:00Z and 2049-12-31T23:59:59Z, the last second of UTCTime.
        notBefore: WallTime(secondsSince1970: 1_577_836_800),
        notAfter: WallTime(secondsSince1970: 2_524_607_999))

    private static func around(from: Int64, to: Int64) -> TestValidity {
        let now = labWallTime().secondsSince1970
        return TestValidity(
            notBefore: WallTime(secondsSince1970: now + from),
            notAfter: WallTime(secondsSince1970: now + to))
    }

    private static func saturatedSum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? (right < 0 ? .min : .max) : sum
    }

    private static let hour: Int64 = 3_600
}
