public import HTTPDNSNames

/// The account of an Aliyun-style service.
public struct LabAccount: Sendable, Hashable {
    /// The account number in the path.
    public let identifier: String
    /// The key of signatures.
    public let secret: String
    /// Whether `/{account}/d` answers without a signature.
    public let allowsUnsigned: Bool

    /// An account.
    public init(_ identifier: String, secret: String, allowsUnsigned: Bool = true) {
        self.identifier = identifier
        self.secret = secret
        self.allowsUnsigned = allowsUnsigned
    }
}

/// Whose JSON `/resolve` speaks. `/dns-query?name=` always speaks Cloudflare's.
public enum LabJSONShape: Sendable, Hashable {
    /// `Question` is an array, names end in a dot, there is a `Comment`.
    case google
    /// `Question` is an object.
    case aliDNS
}

/// How a ``LabHTTPDNSServer`` fails its clients.
public enum LabServiceFault: Sendable, Hashable {
    /// It does not.
    case none
    /// Every name exists and has no address.
    case answersEmpty
    /// Answers carry no TTL, in the formats that can leave it out.
    case leavesOutTTL
    /// A JSON object of another kind, with status 200.
    case answersOtherJSON
    /// A log-in page in HTML, with status 200.
    case captivePortal
    /// A redirect, with status 302.
    case redirects(to: String)
    /// An error without a body.
    case status(Int)
    /// A body of this many octets.
    case answersHuge(octets: Int)
    /// The true answer, late.
    case delays(milliseconds: Int64)
    /// Half the true answer, then the end of the connection.
    case truncates
    /// These addresses for every name, well formed.
    case lies([IPAddress])
    /// No answer.
    case neverAnswers
}
