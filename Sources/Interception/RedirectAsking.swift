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
        /// Send this instead of what was shown, which had fields of these names.
        case change(URLRequest, shown: [String])
        /// The application let the question go.
        case cancel
    }

    let delegates: Delegates

    /// The delegate is asked on its queue; without one the redirect is followed. What is followed is
    /// the task's current request from then on.
    func ask(_ offer: RedirectOffer, _ answer: @escaping @Sendable (Answer) -> Void) {
        guard let url = URL(string: offer.step.head.url.description) else { return answer(.follow) }
        let request = offered(offer.step, url)
        guard let delegate = delegates.ofTask,
            let response = ResponseWriting.response(offer.response)
        else {
            _ = TaskInternals.set(current: request, of: delegates.task)
            return answer(.follow)
        }
        let asked = Box((response, request))
        let question = OpenQuestion(answer) { answer(.cancel) }
        delegates.onQueue {
            delegate.urlSession(
                delegates.session, task: delegates.task,
                willPerformHTTPRedirection: asked.value.0, newRequest: asked.value.1
            ) { chosen in
                question.answer {
                    guard let chosen else { return .deliver }
                    _ = TaskInternals.set(current: chosen, of: delegates.task)
                    if RedirectAsking.same(chosen, asked.value.1) { return .follow }
                    let shown = asked.value.1.allHTTPHeaderFields ?? [:]
                    return .change(chosen, shown: Array(shown.keys))
                }
            }
        }
    }

    private static func same(_ left: URLRequest, _ right: URLRequest) -> Bool {
        left.url == right.url && left.httpMethod == right.httpMethod
            && left.allHTTPHeaderFields ?? [:] == right.allHTTPHeaderFields ?? [:]
            && left.httpBody == right.httpBody && left.httpBodyStream == nil
    }

    /// The task's own request, led elsewhere: with the settings that the application gave it, and of the
    /// fields those that it set itself. A body that goes along is shown where it is the request's own
    /// data, as in the stock loader; a stream is not.
    private func offered(_ step: RedirectStep, _ url: URL) -> URLRequest {
        let head = step.head
        var request = delegates.task.currentRequest ?? URLRequest(url: url)
        let own = request.allHTTPHeaderFields ?? [:]
        request.url = url
        request.httpMethod = head.method.text
        let body = step.keepsBody ? request.httpBody : nil
        // Takes the data away, too: a request has one of them.
        request.httpBodyStream = nil
        request.httpBody = body
        for name in own.keys { request.setValue(nil, forHTTPHeaderField: name) }
        for field in head.fields.fields
        where own.keys.contains(where: { HTTPFields.same($0, field.name) }) {
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
/// 3. What the delegate was not shown (``RedirectAsking``) goes along: the session's additional fields
///    and what is said of the application, by rule 2 as well.
/// 4. The body is the delegate's own; otherwise the redirect's, while the method is.
struct ChangedRedirect {
    let offer: RedirectOffer
    /// The request that was answered by the redirect.
    let before: RequestHead
    /// Names of the fields that the delegate could take away.
    let shown: [String]
    let toASCII: DomainToASCII

    enum Fault: Error {
        case unreadable(LoadingFault)
        case refused(RedirectFault)
        /// Nobody gives the stream again that was read for the redirect.
        case spent(HTTPURL)
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
        return try adding(unshown(chosen, to: url), to: fields)
    }

    /// What was to be sent and is no field of the task's own request.
    private func unshown(_ chosen: URLRequest, to url: HTTPURL) -> [HTTPFields.Field] {
        offer.step.head.fields.fields.filter { field in
            if shown.contains(where: { HTTPFields.same($0, field.name) }) { return false }
            if HTTPFields.same(field.name, "Content-Type") {
                return chosen.httpMethod == offer.step.head.method.text
            }
            return url.origin == before.url.origin
                || !RedirectRules.originFields.contains { HTTPFields.same($0, field.name) }
        }
    }

    private func adding(
        _ others: [HTTPFields.Field], to fields: HTTPFields
    ) throws(LoadingFault) -> HTTPFields {
        var fields = fields
        do throws(FieldError) {
            for field in others where !fields.contains(field.name) {
                try fields.append(field.name, field.value)
            }
        } catch { throw .badField(error) }
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
