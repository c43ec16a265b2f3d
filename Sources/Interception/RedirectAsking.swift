internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Asks the application about a redirect, as URLSession would.
struct RedirectAsking: Sendable {
    enum Answer: @unchecked Sendable {
        // Safety: a request is a value; its body stream is passed on to the one thread that reads it.
        case follow
        /// Hand the redirecting answer over.
        case deliver
        /// Send this instead.
        case change(URLRequest)
    }

    let delegates: Delegates

    /// The delegate is asked on its queue; without one the redirect is followed.
    func ask(_ offer: RedirectOffer, _ answer: @escaping @Sendable (Answer) -> Void) {
        guard let delegate = delegates.ofTask,
            let url = URL(string: offer.step.head.url.description),
            let response = ResponseWriting.response(offer.response)
        else { return answer(.follow) }
        let request = RedirectAsking.request(offer.step.head, url)
        let asked = Box((response, request))
        delegates.onQueue {
            delegate.urlSession(
                delegates.session, task: delegates.task,
                willPerformHTTPRedirection: asked.value.0, newRequest: asked.value.1
            ) { chosen in
                guard let chosen else { return answer(.deliver) }
                let isOffered = RedirectAsking.same(chosen, asked.value.1)
                answer(isOffered ? .follow : .change(chosen))
            }
        }
    }

    private static func same(_ left: URLRequest, _ right: URLRequest) -> Bool {
        left.url == right.url && left.httpMethod == right.httpMethod
            && left.allHTTPHeaderFields ?? [:] == right.allHTTPHeaderFields ?? [:]
            && left.httpBody == nil && left.httpBodyStream == nil
    }

    private static func request(_ head: RequestHead, _ url: URL) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = head.method.text
        for field in head.fields.fields {
            request.addValue(field.value, forHTTPHeaderField: field.name)
        }
        return request
    }
}

/// Turns the request that a delegate put in the place of a redirect's into ours.
///
/// Rules:
/// 1. The URL passes the same door as every other, and `https` does not become `http`.
/// 2. What belongs to the origin that redirected (``originFields``) goes to another one only where the
///    delegate set it itself: what it merely left as it was stays behind.
/// 3. The body is the delegate's own; otherwise the redirect's, while the method is.
struct ChangedRedirect {
    let offer: RedirectOffer
    /// The request that was answered by the redirect.
    let before: RequestHead
    let toASCII: DomainToASCII

    enum Fault: Error {
        case unreadable(LoadingFault)
        case refused(RedirectFault)
    }

    func head(
        _ chosen: URLRequest, allowsDowngrade: Bool
    ) throws(Fault) -> RequestHead {
        do {
            let url = try RequestReading.url(of: chosen, toASCII)
            let text = chosen.httpMethod ?? "GET"
            guard let method = HTTPMethod(text) else { throw LoadingFault.badMethod(text) }
            if before.url.origin.scheme == .https, url.origin.scheme == .http, !allowsDowngrade {
                throw Fault.refused(.downgrade(to: url))
            }
            return RequestHead(method: method, url: url, fields: try fields(chosen, to: url))
        } catch let fault as LoadingFault {
            throw .unreadable(fault)
        } catch let fault as Fault {
            throw fault
        } catch {
            throw .unreadable(.badURL("\(error)"))
        }
    }

    private func fields(_ chosen: URLRequest, to url: HTTPURL) throws(LoadingFault) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in (chosen.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key })
        where !RequestReading.transportFields.contains(name.lowercased()) && name != "Host" {
            let isLeft =
                url.origin != before.url.origin
                && RedirectRules.originFields.contains { $0.lowercased() == name.lowercased() }
                && before.fields.first(name) == value
            if isLeft { continue }
            do { try fields.append(name, value) } catch { throw .badField(error) }
        }
        return fields
    }

    /// The body of the changed request; nil for the one of the request before.
    func body(_ chosen: URLRequest, _ head: RequestHead) throws(LoadingFault) -> UploadBody? {
        if let data = chosen.httpBody { return try UploadBody(.data(data), chosen) }
        if let stream = chosen.httpBodyStream { return try UploadBody(.stream(stream), chosen) }
        let keeps = offer.step.keepsBody && head.method == offer.step.head.method
        return keeps ? nil : UploadBody.none
    }
}
