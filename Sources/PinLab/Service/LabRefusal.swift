/// Why a service refuses a question. Each form has its own code and status for it.
public enum LabRefusal: String, Error, Sendable, Hashable, CaseIterable {
    /// The account is not known.
    case unknownAccount = "unknown-account"
    /// The account was there once.
    case closedAccount = "closed-account"
    /// The account must sign its questions.
    case unsigned
    /// The signature, the key or the encryption is wrong.
    case wrongSignature = "wrong-signature"
    /// The signature was right, and is over.
    case expired
    /// The signature is valid for too long, or from too late.
    case tooFarAhead = "too-far-ahead"
    /// A parameter is missing, or cannot be read.
    case missingArgument = "missing-argument"
    /// The name is none.
    case wrongName = "wrong-name"
    /// The name may not be asked for.
    case forbiddenName = "forbidden-name"
    /// More names than the form allows.
    case tooManyNames = "too-many-names"
    /// The record type is none.
    case wrongType = "wrong-type"
    /// Custom parameters that are not well formed.
    case wrongCustomParameters = "wrong-custom-parameters"
    /// The name has no address, in a form that says so by an error.
    case noAddress = "no-address"
    /// The method is not the form's.
    case wrongMethod = "wrong-method"
    /// The body has another type.
    case wrongMedia = "wrong-media"
    /// The body is too long.
    case tooLong = "too-long"
    /// This server gives no service now; another may.
    case overloaded
    /// The service is broken, or its resolver fails.
    case broken
}

/// How a form says no.
struct RefusalText {
    let status: Int
    let code: String
    let body: String

    private init(_ status: Int, _ code: String, _ body: String = "") {
        self.status = status
        self.code = code
        self.body = body
    }

    init(_ why: LabRefusal, _ form: LabServiceForm, now: Int64, clientAddress: String) {
        switch form {
        case .aliyun, .aliyunSchedule, .aliyun2, .aliDNS: self = .aliyun(why)
        case .tencent: self = .tencent(why)
        case .volcengine: self = .volcengine(why)
        case .baidu: self = .baidu(why, now: now, clientAddress: clientAddress)
        case .qiniu: self = .qiniu(why)
        case .ucloud: self = .ucloud(why)
        case .yunaq: self = .yunaq(why)
        case .wangsu, .json: self = .json(why)
        case .message: self = .message(why)
        }
    }

    /// Source: Alibaba Cloud, HTTPDNS, "resolve a domain name", error codes. AliDNS writes the same
    /// member; its codes are not published, so these are told.
    private static func aliyun(_ why: LabRefusal) -> RefusalText {
        let (status, code) =
            switch why {
            case .unknownAccount: (403, "InvalidAccount")
            case .closedAccount: (403, "AccountNotExists")
            case .unsigned: (403, "UnsignedInterfaceDisabled")
            case .wrongSignature: (403, "InvalidSignature")
            case .expired: (403, "SignatureExpired")
            case .tooFarAhead: (403, "InvalidDuration")
            case .wrongName, .forbiddenName, .noAddress: (400, "InvalidHost")
            case .tooManyNames: (400, "TooManyHosts")
            case .wrongCustomParameters: (400, "SdnsNotSupported")
            case .wrongMethod: (405, "MethodNotAllowed")
            case .overloaded: (403, "ServiceLevelDeny")
            case .broken: (500, "InternalError")
            case .missingArgument, .wrongType, .wrongMedia, .tooLong: (400, "MissingArgument")
            }
        return RefusalText(status, code, JSONText.object([("code", JSONText.string(code))]))
    }

    /// Statuses without a body. Source: Tencent Cloud, HTTPDNS; 401 as its iOS library reads it.
    private static func tencent(_ why: LabRefusal) -> RefusalText {
        let status =
            switch why {
            case .unknownAccount, .closedAccount, .unsigned, .wrongSignature, .expired,
                .tooFarAhead:
                401
            case .overloaded: 429
            case .broken, .wrongMethod: 501
            default: 404
            }
        return RefusalText(status, String(status))
    }

    /// Source: Volcengine, HTTPDNS API: 403 for parameters and signatures, 405, 429, 500.
    private static func volcengine(_ why: LabRefusal) -> RefusalText {
        let status =
            switch why {
            case .wrongMethod: 405
            case .overloaded: 429
            case .broken: 500
            default: 403
            }
        return RefusalText(status, String(status))
    }

    /// The code is the text of `msg`, with the server's time. Source: Baidu Cloud, HTTPDNS. Only
    /// `SignatureExpired` is published; the other texts are this laboratory's.
    private static func baidu(
        _ why: LabRefusal, now: Int64, clientAddress: String
    ) -> RefusalText {
        let (status, code) =
            switch why {
            case .expired: (403, "SignatureExpired")
            case .unsigned, .wrongSignature: (403, "SignatureInvalid")
            case .tooFarAhead: (403, "TimestampInvalid")
            case .unknownAccount, .closedAccount: (403, "AccountInvalid")
            case .overloaded: (429, "TooManyRequests")
            case .broken: (500, "InternalError")
            default: (400, "ParameterInvalid")
            }
        let body = JSONText.object([
            ("msg", JSONText.string(code)), ("clientip", JSONText.string(clientAddress)),
            ("timestamp", String(now)),
        ])
        return RefusalText(status, code, body)
    }

    /// Source: Qiniu, CDN HTTPDNS: 400006...400010. The others are this laboratory's.
    private static func qiniu(_ why: LabRefusal) -> RefusalText {
        let (status, code) =
            switch why {
            case .unknownAccount, .closedAccount, .unsigned, .wrongSignature: (400, 400_006)
            case .missingArgument, .tooFarAhead: (400, 400_007)
            case .expired: (400, 400_008)
            case .wrongType: (400, 400_009)
            case .tooManyNames: (400, 400_010)
            case .overloaded: (429, 429)
            case .broken: (500, 500)
            default: (400, 400)
            }
        let body = JSONText.object([
            ("code", String(code)), ("error", JSONText.string(why.rawValue)),
        ])
        return RefusalText(status, String(code), body)
    }

    /// Source: UCloud, httpdns, sdk/api.md.
    private static func ucloud(_ why: LabRefusal) -> RefusalText {
        let (status, code) =
            switch why {
            case .unknownAccount, .closedAccount, .unsigned, .wrongSignature, .expired,
                .tooFarAhead:
                (401, "UNAUTHORIZED")
            case .forbiddenName: (403, "HOST_FORBIDDEN")
            case .broken, .noAddress: (404, "FAIL_TO_RESOLVE")
            case .overloaded: (429, "TOO_MANY_REQUESTS")
            default: (400, "BAD_REQUEST")
            }
        let body = JSONText.object([
            ("status", String(status)), ("code", JSONText.string(code)),
            ("message", JSONText.string(why.rawValue)),
        ])
        return RefusalText(status, code, body)
    }

    /// Source: Yunaq help, faq/2006: `SignatureExpired`. The others are this laboratory's.
    private static func yunaq(_ why: LabRefusal) -> RefusalText {
        let like = aliyun(why)
        return RefusalText(like.status, like.code, like.body)
    }

    /// Source: Google, DNS over HTTPS, status codes.
    private static func json(_ why: LabRefusal) -> RefusalText {
        let status =
            switch why {
            case .wrongMethod: 501
            case .wrongMedia: 415
            case .tooLong: 413
            case .overloaded: 429
            case .broken: 500
            case .unknownAccount, .closedAccount, .unsigned, .wrongSignature: 403
            default: 400
            }
        return RefusalText(status, String(status), "{\"error\":\"Invalid query\"}")
    }

    /// Source: RFC 8484 §4.2.1, §6; RFC 9110 §15.5.
    private static func message(_ why: LabRefusal) -> RefusalText {
        let like = json(why)
        let status = why == .wrongMethod ? 405 : like.status
        return RefusalText(status, String(status))
    }
}
