internal import Foundation
internal import FoundationNetworking
internal import HTTPDNSExchange

/// Asks the application about a redirect, as URLSession would.
struct RedirectAsking {
    let task: URLSessionTask
    let session: URLSession

    /// The delegate is asked on its queue; without one the redirect is followed.
    ///
    /// A delegate may follow or refuse. A request that it changed is not followed: what it asks for
    /// would not have passed the redirect rules; the redirecting answer is handed over then.
    func ask(_ offer: RedirectOffer, _ answer: @escaping @Sendable (RedirectAnswer) -> Void) {
        guard
            let delegate = TaskInternals.ownDelegate(of: task, in: session) ?? task.delegate
                ?? (session.delegate as? any URLSessionTaskDelegate),
            let url = URL(string: offer.step.head.url.description),
            let response = ResponseWriting.response(offer.response)
        else { return answer(.follow) }
        let asked = Asked(
            task: task, session: session, delegate: delegate,
            response: response,
            request: RedirectAsking.request(offer.step.head, url))
        session.delegateQueue.addOperation {
            asked.delegate.urlSession(
                asked.session, task: asked.task, willPerformHTTPRedirection: asked.response,
                newRequest: asked.request
            ) { chosen in
                answer(chosen?.url == url ? .follow : .deliver)
            }
        }
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

/// What a delegate is asked with.
private struct Asked: @unchecked Sendable {
    // Safety: made on the work queue and used once, on the delegate queue; URLSession itself hands
    // the same objects from one to the other.
    let task: URLSessionTask
    let session: URLSession
    let delegate: any URLSessionTaskDelegate
    let response: HTTPURLResponse
    let request: URLRequest
}
