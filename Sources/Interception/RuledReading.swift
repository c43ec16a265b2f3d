internal import Foundation
internal import FoundationNetworking
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSRules

/// What rules are shown of a task's request.
enum RuledReading {
    /// The request alone, before its task begins: bodies of upload tasks and fields of the session
    /// are not known yet.
    ///
    /// - Throws: ``LoadingFault``.
    static func request(
        _ request: URLRequest, toASCII: @escaping DomainToASCII
    ) throws(LoadingFault) -> RuledRequest {
        let url = try RequestReading.url(of: request, toASCII)
        let text = request.httpMethod ?? "GET"
        guard let method = HTTPMethod(text) else { throw .badMethod(text) }
        let fields = try RequestReading.fields(of: request)
        let (data, isStream) = (request.httpBody, request.httpBodyStream != nil)
        return RuledRequest(RequestHead(method: method, url: url, fields: fields)) {
            isStream ? nil : data.map { [UInt8]($0) } ?? []
        }
    }

    /// More is known of a task that begins than of its request.
    static func knowsMore(_ task: URLSessionTask, _ session: URLSession) -> Bool {
        task is URLSessionUploadTask
            || session.configuration.httpAdditionalHeaders?.isEmpty == false
    }

    static func ticket(_ request: URLRequest, isNeeded: Bool = true) -> RuleTicket {
        guard isNeeded else {
            return RuleTicket(url: "", method: "", fields: [:], bodyOctets: nil)
        }
        return RuleTicket(
            url: request.url?.absoluteString ?? "", method: request.httpMethod ?? "GET",
            fields: request.allHTTPHeaderFields ?? [:], bodyOctets: request.httpBody?.count)
    }
}
