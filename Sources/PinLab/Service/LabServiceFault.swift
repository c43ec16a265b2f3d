public import HTTPDNSNames

/// How a ``LabHTTPDNSServer`` fails its clients. Several may hold at a time.
///
/// ``catalogue`` lists each with the name it goes by.
public enum LabServiceFault: Sendable, Hashable {
    /// It does not.
    case none

    // What is told.

    /// Every name exists and has no address.
    case answersEmpty
    /// As ``answersEmpty``, written in one of the vendors' other ways.
    case answersEmptyAs(LabEmptyForm)
    /// No name exists.
    case denies
    /// These addresses for every name that exists, well formed.
    case lies([IPAddress])
    /// As ``lies(_:)``, with an address of 127.0.0.0/8 that no other server of this machine tells.
    case liesByServer
    /// These addresses for every name that does not exist.
    case rewritesMissing([IPAddress])

    // Fields that are missing, odd or too many, in the forms that have them.

    /// Answers carry no TTL.
    case leavesOutTTL
    /// TTLs are not as they should be.
    case ttl(LabTTLFault)
    /// Aliyun's answers carry no `origin_ttl`.
    case leavesOutOriginTTL
    /// The answers of Aliyun's second interface carry no `mode`.
    case leavesOutMode
    /// JSON has no `Status`.
    case leavesOutStatus
    /// JSON's `Question` is an object.
    case questionAsObject
    /// JSON's records carry `Expires`.
    case addsExpires
    /// JSON's records carry `class`.
    case addsClass
    /// Aliyun's batch elements carry `type`.
    case addsType
    /// JSON's records carry no `data`.
    case leavesOutData
    /// Refusals come with status 200.
    case refusesWithSuccess

    // Encryption.

    /// Encrypted answers are damaged.
    case cipher(LabCipherFault)
    /// Hexadecimal digits are upper case.
    case upperCaseHex
    /// Base64 is broken into lines.
    case base64Lines
    /// The answers of Aliyun's second interface are plain while their `mode` says otherwise.
    case plainData

    // Several names at a time.

    /// The last name comes first.
    case reversesBatch
    /// Every name is told twice.
    case duplicatesBatch
    /// The last name is not told.
    case dropsFromBatch
    /// Volcengine's list is the member `dns` of an object.
    case wrapsBatch
    /// Tencent's client address is on the last line alone.
    case clientOnLastLine
    /// Names in answers end in a dot where they have none, and have none where they end in one.
    case togglesDot
    /// Lists of addresses in text end in a semicolon.
    case trailingSemicolon

    // Who may ask, and when.

    /// Refuses every question for this reason, whatever it says.
    case refuses(LabRefusal)
    /// The server's clock is wrong by so many seconds.
    case clockWrong(seconds: Int64)
    /// Aliyun's `/ss` tells bad lists.
    case schedule(LabScheduleFault)

    // The way of an answer.

    /// A JSON object of another kind, with status 200.
    case answersOtherJSON
    /// A log-in page in HTML, with status 200.
    case captivePortal
    /// A redirect, with status 302.
    case redirects(to: String)
    /// An error without a body.
    case status(Int)
    /// An error without a body that says when to come back.
    case statusRetry(Int, afterSeconds: Int)
    /// A body of this many octets.
    case answersHuge(octets: Int)
    /// The true answer, late.
    case delays(milliseconds: Int64)
    /// The true answer, octet by octet.
    case trickles(pauseMilliseconds: Int64)
    /// Half the true answer, then the end of the connection.
    case truncates
    /// The true answer's head, then a reset.
    case resetsAfterHead
    /// The end of the connection instead of an answer.
    case closesUnanswered
    /// The true answer in gzip, asked for or not.
    case gzips
    /// The true answer in chunks, with trailers.
    case chunksWithTrailers
    /// The true answer after so long in a cache.
    case ages(seconds: Int64)
    /// No answer.
    case neverAnswers
    /// A certificate that no client should accept; needs a server that was made with an authority.
    case certificate(LabCertificateFault)
}

/// How vendors write that a name has no address.
public enum LabEmptyForm: String, Sendable, Hashable, CaseIterable {
    /// Nothing at all, with status 200.
    case nothing
    /// Tencent's `0`.
    case zero
    /// Tencent's `name.:0`, or `name.:0-0` for both families, asked for names or not.
    case namedZero = "named-zero"
    /// Tencent's `name|client`.
    case nameAndClient = "name-and-client"
    /// The member that would hold the addresses is not there.
    case absent
}

/// What is wrong with TTLs.
public enum LabTTLFault: String, Sendable, Hashable, CaseIterable {
    /// 0.
    case zero
    /// -1; 4,294,967,295 in a DNS message.
    case negative
    /// 2,147,483,648, the first that is no TTL. Source: RFC 2181 §8.
    case huge
    /// A JSON string instead of a number; digits and an `s` in text.
    case text
}

/// What is wrong with a list of service addresses.
public enum LabScheduleFault: String, Sendable, Hashable, CaseIterable {
    /// Addresses where nobody listens.
    case dead
    /// No addresses.
    case empty
    /// `service_status` says `disable`.
    case disabled
    /// Another address with each call.
    case changing
}

/// What is wrong with a certificate.
public enum LabCertificateFault: String, Sendable, Hashable, CaseIterable {
    /// For another name, by the right authority.
    case wrongName = "wrong-name"
    /// Over since an hour.
    case expired
    /// Signed by itself.
    case selfSigned = "self-signed"
    /// By an intermediate that is not sent.
    case missingIntermediate = "missing-intermediate"
}
