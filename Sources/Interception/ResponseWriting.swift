internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSTrust

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Turns a response of ours into Foundation's.
enum ResponseWriting {
    /// Nil when Foundation refuses to make one.
    ///
    /// - Parameters:
    ///   - isFinal: true for one that a task ends with.
    ///   - url: the head's URL in Foundation's form, where it is known already.
    static func response(
        _ head: ResponseHead, isFinal: Bool = true, at url: URL? = nil
    ) -> HTTPURLResponse? {
        (url ?? URL(string: head.url.description)).flatMap {
            HTTPURLResponse(
                url: $0, statusCode: head.status, httpVersion: head.version.name,
                headerFields: fields(head, isFinal: isFinal))
        }
    }

    /// One value per name, folded as RFC 9110 §5.3 says.
    private static func fields(_ head: ResponseHead, isFinal: Bool) -> [String: String] {
        let fields = head.fields.fields
        var folded: [String: String] = [:]
        folded.reserveCapacity(fields.count)
        // The name under which each value stands, as it was written first.
        var names: [String: String] = [:]
        for (place, field) in fields.enumerated() {
            let name: String
            if fields.count <= ResponseWriting.fewFields {
                name =
                    fields[..<place].first { HTTPFields.same($0.name, field.name) }?.name
                    ?? field.name
            } else {
                name = names[field.name.lowercased(), default: field.name]
                names[field.name.lowercased()] = name
            }
            // In place: copying the value for each line would cost its square.
            folded[name]?.append(", " + field.value)
            if folded[name] == nil { folded[name] = field.value }
        }
        if isFinal, head.status == 401,
            let name = fields.first(where: { HTTPFields.same($0.name, "WWW-Authenticate") })?.name,
            let challenge = folded[name], hasBasicChallenge(challenge)
        {
            // Foundation would answer a Basic challenge by giving the task to its stock loader, or
            // never end it. A legal empty list element hides the challenge from its parser.
            folded[name] = ", " + challenge
        }
        return folded
    }

    /// True where Foundation's parser may find a Basic challenge: it looks for the scheme's name at the
    /// beginning and behind every comma, quoted ones included. All others it leaves alone.
    ///
    /// Source: HTTPMessage.swift of swift-corelibs-foundation, `_Challenge.challenges(from:)`.
    private static func hasBasicChallenge(_ value: String) -> Bool {
        value.split(separator: ",").contains { part in
            part.drop { $0.isWhitespace }.prefix(5).lowercased() == "basic"
        }
    }

    /// Because: up to here comparing all of them is quicker than a second table.
    private static let fewFields = 32

    /// Octets of the body as it will be delivered; nil where the head does not say.
    static func bodyOctets(_ head: ResponseHead) -> Int64? {
        guard !head.fields.contains("Content-Encoding"), !head.fields.contains("Transfer-Encoding")
        else { return nil }
        return head.fields.first("Content-Length").flatMap { Int64($0) }.flatMap {
            $0 < 0 ? nil : $0
        }
    }
}

extension HTTPVersion {
    fileprivate var name: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }
}

extension URLError {
    /// The same URL as text, which older code reads; Foundation's own constant is deprecated.
    ///
    /// Source: `NSURLErrorFailingURLStringErrorKey` of swift-corelibs-foundation.
    private static let failingURLStringKey = "NSErrorFailingURLStringKey"

    /// An error that says what happened and for which URL.
    static func make(
        _ code: URLError.Code, _ url: URL?, _ message: String, underlying: (any Error)? = nil
    ) -> URLError {
        var facts: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let url {
            facts[NSURLErrorFailingURLErrorKey] = url
            facts[failingURLStringKey] = url.absoluteString
        }
        if let underlying { facts[NSUnderlyingErrorKey] = underlying }
        return URLError(code, userInfo: facts)
    }
}

extension ExchangeFailure {
    /// The failure as URLSession users know it; this value is its underlying error.
    var urlError: URLError {
        .make(code, URL(string: url.description), description, underlying: self)
    }

    /// The same, but for an error of the application's own, which a rule hands on as it is.
    var sessionError: any Error {
        if case .refusedByRule(let refusal) = cause, let error = refusal.error { return error }
        return urlError
    }

    private var code: URLError.Code {
        switch cause {
        case .notResolved(let failure): ExchangeFailure.code(failure)
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .untrusted(let failure): ExchangeFailure.code(failure)
        case .handshakeFailed: .secureConnectionFailed
        case .cannotConnect: .cannotConnectToHost
        case .connectionLost: .networkConnectionLost
        case .malformedResponse, .headTooLarge: .badServerResponse
        case .bodyTooLarge: .dataLengthExceedsMaximum
        case .bodyExpandsTooFar: .cannotDecodeContentData
        case .bodySourceFailed, .bodyNotReplayable: .requestBodyStreamExhausted
        case .redirectRefused(.tooMany), .redirectRefused(.circle): .httpTooManyRedirects
        case .redirectRefused(.downgrade): .appTransportSecurityRequiresSecureConnection
        case .refusedByRule(let refusal): refusal.urlCode
        case .unsendable: .badURL
        case .unavailable: .resourceUnavailable
        case .unexpected: .unknown
        }
    }

    private static func code(_ failure: ResolutionFailure) -> URLError.Code {
        switch failure {
        case .negative(let answer):
            if case .serverFailure = answer.outcome { return .dnsLookupFailed }
            return .cannotFindHost
        case .failed(.timedOut): return .timedOut
        case .failed(.cancelled): return .cancelled
        case .failed: return .dnsLookupFailed
        }
    }

    private static func code(_ failure: TrustFailure) -> URLError.Code {
        switch failure.code {
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownIssuer, .selfSigned: .serverCertificateHasUnknownRoot
        default: .serverCertificateUntrusted
        }
    }
}

extension RuleRefusal {
    fileprivate var urlCode: URLError.Code {
        if let fault { return fault.code }
        return kind == .offline ? .notConnectedToInternet : .resourceUnavailable
    }
}

extension NetworkFault {
    fileprivate var code: URLError.Code {
        switch self {
        case .notConnectedToInternet: .notConnectedToInternet
        case .timedOut: .timedOut
        case .cannotFindHost: .cannotFindHost
        case .cannotConnectToHost: .cannotConnectToHost
        case .networkConnectionLost: .networkConnectionLost
        case .dnsLookupFailed: .dnsLookupFailed
        case .secureConnectionFailed: .secureConnectionFailed
        case .serverCertificateUntrusted: .serverCertificateUntrusted
        case .badServerResponse: .badServerResponse
        case .resourceUnavailable: .resourceUnavailable
        case .cancelled: .cancelled
        }
    }
}
