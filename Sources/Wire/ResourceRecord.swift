public import HTTPDNSNames

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
    /// Compared in serial arithmetic. Source: RFC 1982.
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

    /// One SvcParam. Source: RFC 9460 §2.1.
    public struct Parameter: Sendable, Hashable {
        /// Source: IANA "Service Parameter Keys (SvcParamKeys)".
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
