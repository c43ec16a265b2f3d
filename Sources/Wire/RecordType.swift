/// A DNS record type, by its number. Source: IANA "Resource Record (RR) TYPEs".
public struct RecordType: Sendable, Hashable, RawRepresentable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let a = RecordType(rawValue: 1)
    public static let ns = RecordType(rawValue: 2)
    public static let cname = RecordType(rawValue: 5)
    public static let soa = RecordType(rawValue: 6)
    public static let ptr = RecordType(rawValue: 12)
    public static let mx = RecordType(rawValue: 15)
    public static let txt = RecordType(rawValue: 16)
    public static let aaaa = RecordType(rawValue: 28)
    public static let srv = RecordType(rawValue: 33)
    /// EDNS0, a pseudo-record. Source: RFC 6891 §6.1.
    public static let opt = RecordType(rawValue: 41)
    public static let svcb = RecordType(rawValue: 64)
    public static let https = RecordType(rawValue: 65)
    public static let any = RecordType(rawValue: 255)
    public static let caa = RecordType(rawValue: 257)
}

/// The outcome a DNS server states. Source: RFC 1035 §4.1.1, RFC 6895 §2.3.
public struct ResponseCode: Sendable, Hashable, RawRepresentable {
    /// 0...4095: four bits from the header, eight more from EDNS.
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let noError = ResponseCode(rawValue: 0)
    public static let formatError = ResponseCode(rawValue: 1)
    public static let serverFailure = ResponseCode(rawValue: 2)
    public static let noSuchName = ResponseCode(rawValue: 3)
    public static let notImplemented = ResponseCode(rawValue: 4)
    public static let refused = ResponseCode(rawValue: 5)
}
