public import HTTPDNSNames

/// A customer of an HTTP-DNS service. Each vendor's form uses those of the fields that it knows.
public struct LabAccount: Sendable, Hashable {
    /// The account number: in Aliyun's and UCloud's path, `account_id`, `id`, `uid`, `accountId`.
    public let identifier: String
    /// The key of signatures; for Aliyun's second interface in hexadecimal digits.
    public let secret: Secret
    /// Whether Aliyun's interfaces answer without a signature.
    public let allowsUnsigned: Bool
    /// The key of ciphers: Aliyun's in hexadecimal digits, Tencent's as the console shows it.
    public var cipherKey: Secret?
    /// Tencent's token for queries over HTTPS. Where no account has one, any is taken.
    public var token: Secret?
    /// The identifier of AliDNS's access key, which travels as `ak`.
    public var accessKey: String?
    /// Whether Tencent's form demands the end of validity after the names.
    public var demandsTimestamp = false

    /// An account.
    public init(_ identifier: String, secret: String, allowsUnsigned: Bool = true) {
        self.identifier = identifier
        self.secret = Secret(secret)
        self.allowsUnsigned = allowsUnsigned
    }
}

/// Whose JSON `/resolve` speaks. `/dns-query?name=` speaks Cloudflare's, unless it is dns.sb's or
/// AdGuard's that is spoken.
public enum LabJSONShape: Sendable, Hashable, CaseIterable {
    /// `Question` is an array, names end in a dot, there is a `Comment`.
    case google
    /// As Cloudflare's, with names without a dot.
    case cloudflare
    /// `Question` is an object, its name without a dot.
    case aliDNS
    /// There is no `Status`; records say their class.
    case adGuard
    /// Records say in words when they expire.
    case dnsSB
}

/// A form of questions and answers: a vendor's, or one that many speak.
public enum LabServiceForm: String, Sendable, Hashable, CaseIterable {
    /// Aliyun's first interface, for one name or several.
    case aliyun
    /// Aliyun's list of service addresses.
    case aliyunSchedule = "aliyun-schedule"
    /// Aliyun's second interface.
    case aliyun2 = "aliyun-v2"
    /// AliDNS's JSON for customers.
    case aliDNS = "alidns"
    /// Tencent's text: free, for customers, or with a token.
    case tencent
    /// Volcengine's JSON.
    case volcengine
    /// Baidu's JSON, versions 3 and 4.
    case baidu
    /// Qiniu's JSON.
    case qiniu
    /// UCloud's JSON.
    case ucloud
    /// Yunaq's JSON or text.
    case yunaq
    /// Wangsu's JSON.
    case wangsu
    /// DNS in JSON, see ``LabJSONShape``.
    case json
    /// DNS messages over HTTP. Source: RFC 8484.
    case message
}

/// The service addresses that Aliyun's `/ss` tells.
public struct LabSchedule: Sendable, Hashable {
    /// `service_ip` and `service_ipv6`, in order.
    public var addresses: [IPAddress]
    /// `service_ip_port` or `service_ipv6_port` of each address; nil leaves them out.
    public var port: Port?
    /// `service_status`; nil leaves it out.
    public var status: String?

    /// A list of addresses.
    public init(_ addresses: [IPAddress], port: Port? = nil, status: String? = nil) {
        self.addresses = addresses
        self.port = port
        self.status = status
    }
}

/// Which time a service believes it is.
public enum LabTime: Sendable, Hashable {
    /// The machine's.
    case real
    /// The machine's and so many seconds more.
    case shifted(seconds: Int64)
    /// Always this.
    case stopped(WallTime)

    var now: WallTime {
        switch self {
        case .real: labWallTime()
        case .shifted(let seconds):
            WallTime(secondsSince1970: labWallTime().secondsSince1970 &+ seconds)
        case .stopped(let time): time
        }
    }
}

/// All that a ``LabHTTPDNSServer`` knows; may be changed while it runs.
public struct LabServiceSettings: Sendable {
    /// What names stand for.
    public var table: LabTable
    /// Who may ask.
    public var accounts: [LabAccount] = []
    /// The forms that are spoken; every other path does not exist.
    public var forms = Set(LabServiceForm.allCases)
    /// Whose JSON `/resolve` speaks.
    public var shape = LabJSONShape.google
    /// Which time it is.
    public var time = LabTime.real
    /// Where clients seem to come from: what a service on the internet would see.
    public var clientAddress = LabAddress.ipv4
    /// What `/ss` tells; nil: this server, with its port.
    public var schedule: LabSchedule?
    /// Baidu's tags and their names.
    public var tags: [String: [String]] = [:]

    /// Settings with this truth.
    public init(table: LabTable) { self.table = table }
}
