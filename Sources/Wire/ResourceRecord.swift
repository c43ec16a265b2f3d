public import HTTPDNSNames

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

/// A name as DNS messages carry it: labels of any octets.
///
/// Unlike `HostName` it may hold spaces, upper case, dots inside a label: DNS itself allows that.
/// Comparison ignores ASCII case. Source: RFC 1035 §2.3.3, RFC 4343.
public struct WireName: Sendable, Hashable, CustomStringConvertible {
    /// The labels as received, left-most first; none for the root.
    public let labels: [[UInt8]]

    /// Nil when a label is empty or longer than 63 octets, or the whole exceeds 255 on the wire.
    public init?(labels: [[UInt8]]) {
        guard labels.allSatisfy({ (1...63).contains($0.count) }),
            labels.reduce(1, { $0 + $1.count + 1 }) <= 255
        else { return nil }
        self.labels = labels
    }

    /// The wire form of a host name; always fits.
    public init(_ name: HostName) {
        labels = name.text.split(separator: ".").map { Array($0.utf8) }
    }

    /// The root.
    public static let root = WireName(known: [])

    private init(known labels: [[UInt8]]) { self.labels = labels }

    /// Presentation text without the trailing dot (`.` for the root): special octets as `\DDD` or
    /// `\.`. Source: RFC 1035 §5.1.
    public var description: String {
        guard !labels.isEmpty else { return "." }
        return labels.map { label in label.map(WireName.presented).joined() }
            .joined(separator: ".")
    }

    /// The host name this spells; nil when it breaks a host-name rule.
    public var hostName: HostName? {
        guard !labels.isEmpty else { return nil }
        guard !labels.contains(where: { $0.contains(0x2E) }) else { return nil }
        return try? HostName(
            labels.map { String(decoding: $0, as: UTF8.self) }
                .joined(separator: "."))
    }

    public static func == (lhs: WireName, rhs: WireName) -> Bool {
        lhs.labels.count == rhs.labels.count
            && zip(lhs.labels, rhs.labels).allSatisfy { left, right in
                left.count == right.count
                    && zip(left, right).allSatisfy { folded($0) == folded($1) }
            }
    }

    public func hash(into hasher: inout Hasher) {
        for label in labels {
            hasher.combine(label.count)
            for octet in label { hasher.combine(WireName.folded(octet)) }
        }
    }

    private static func folded(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }

    private static func presented(_ octet: UInt8) -> String {
        switch octet {
        case 0x2E, 0x5C, 0x22, 0x28, 0x29, 0x3B, 0x40, 0x24:
            return "\\" + String(UnicodeScalar(octet))
        case 0x21...0x7E:
            return String(UnicodeScalar(octet))
        default:
            let digits = String(octet)
            return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
    }
}

/// One resource record of a DNS message. Source: RFC 1035 §4.1.3.
public struct ResourceRecord: Sendable, Hashable {
    public let name: WireName
    public let type: RecordType
    /// 1 for IN.
    public let recordClass: UInt16
    /// 0...2^31-1; a value with the top bit set has become 0. Source: RFC 2181 §8.
    public let ttlSeconds: UInt32
    public let data: RecordData

    public init(
        name: WireName, type: RecordType, recordClass: UInt16 = 1, ttlSeconds: UInt32,
        data: RecordData
    ) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.ttlSeconds = ttlSeconds
        self.data = data
    }
}

/// What a record says.
public enum RecordData: Sendable, Hashable {
    /// A (4 octets) or AAAA (16 octets), told apart by the address's family.
    case address(IPAddress)
    /// CNAME, NS, PTR: another name.
    case name(WireName)
    case soa(StartOfAuthority)
    case mx(preference: UInt16, exchange: WireName)
    /// Character strings, each at most 255 octets.
    case txt([[UInt8]])
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: WireName)
    case caa(flags: UInt8, tag: [UInt8], value: [UInt8])
    /// SVCB and HTTPS. Source: RFC 9460 §2.2.
    case service(ServiceBinding)
    /// Any other type, as octets. Source: RFC 3597.
    case opaque([UInt8])
}

/// The SOA record. Source: RFC 1035 §3.3.13.
public struct StartOfAuthority: Sendable, Hashable {
    public let primary: WireName
    public let mailbox: WireName
    public let serial: UInt32
    public let refreshSeconds: UInt32
    public let retrySeconds: UInt32
    public let expireSeconds: UInt32
    /// The negative-caching TTL. Source: RFC 2308 §4.
    public let minimumSeconds: UInt32

    public init(
        primary: WireName, mailbox: WireName, serial: UInt32, refreshSeconds: UInt32,
        retrySeconds: UInt32, expireSeconds: UInt32, minimumSeconds: UInt32
    ) {
        self.primary = primary
        self.mailbox = mailbox
        self.serial = serial
        self.refreshSeconds = refreshSeconds
        self.retrySeconds = retrySeconds
        self.expireSeconds = expireSeconds
        self.minimumSeconds = minimumSeconds
    }
}

/// The data of an SVCB or HTTPS record. Source: RFC 9460 §2.2.
public struct ServiceBinding: Sendable, Hashable {
    /// 0 means alias mode.
    public let priority: UInt16
    public let target: WireName
    /// Parameters in ascending key order, values as octets.
    public let parameters: [Parameter]

    public struct Parameter: Sendable, Hashable {
        public let key: UInt16
        public let value: [UInt8]

        public init(key: UInt16, value: [UInt8]) {
            self.key = key
            self.value = value
        }
    }

    public init(priority: UInt16, target: WireName, parameters: [Parameter]) {
        self.priority = priority
        self.target = target
        self.parameters = parameters
    }
}
