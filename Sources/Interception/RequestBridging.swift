public import Foundation
public import HTTPDNSClient
public import HTTPDNSExchange
internal import HTTPDNSIDNA
internal import HTTPDNSNames

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension HTTPRequest {
    /// The request that a `URLRequest` means, for ``HTTPDNSClient/send(_:)``.
    ///
    /// Taken over: URL, method, header fields, body (data or stream), `timeoutInterval` as the
    /// longest silence, `httpShouldHandleCookies`, `cachePolicy` as ``HTTPRequest/cacheMode``. Not
    /// taken over, since they have no meaning outside a `URLSession`: `networkServiceType`,
    /// `allowsCellularAccess` and the like.
    /// Codings of the response are undone whatever the request's own `Accept-Encoding` says, as in a
    /// session.
    /// A stream can be read once: a redirect that wants the body again fails.
    ///
    /// - Throws: `URLError.badURL`, whose description says what is wrong and what to do: a URL
    ///   without a host or with two readings, a method or a field that HTTP does not allow.
    public init(_ request: URLRequest) throws(URLError) {
        do throws(LoadingFault) {
            let toASCII: DomainToASCII = { (text) throws(NameError) in try IDNA.toASCII(text) }
            let url = try RequestReading.url(of: request, toASCII)
            let methodText = request.httpMethod ?? "GET"
            guard let method = HTTPMethod(methodText) else { throw .badMethod(methodText) }
            let caching = CachePolicyReading(request.cachePolicy)
            self.init(
                method, url, fields: caching.changing(try RequestReading.fields(of: request)),
                body: try RequestReading.body(of: request))
            cacheMode = caching.mode
            decodesAlways = true
            limits = RequestReading.limits(request)
            usesCookies = request.httpShouldHandleCookies
        } catch {
            throw error.urlError(request.url)
        }
    }
}

extension HTTPResponse {
    /// The head as `URLSession` users know it: under the logical URL, one value a name.
    ///
    /// - Throws: `URLError.cannotParseResponse` when Foundation makes no response of it.
    public var urlResponse: HTTPURLResponse {
        get throws(URLError) {
            guard let response = ResponseWriting.response(head) else {
                throw URLError.make(
                    .cannotParseResponse, URL(string: head.url.description),
                    "Foundation refuses this response")
            }
            return response
        }
    }
}

extension ExchangeFailure {
    /// The failure in the codes of `URLSession`; `self` is its underlying error.
    public var asURLError: URLError { urlError }
}
