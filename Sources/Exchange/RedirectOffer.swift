/// A redirect, before it is followed.
public struct RedirectOffer: Sendable, Hashable {
    /// The answer that redirects.
    public let response: ResponseHead
    /// What would be sent next.
    public let step: RedirectStep

    package init(response: ResponseHead, step: RedirectStep) {
        self.response = response
        self.step = step
    }

    /// True when the answer's own body is short enough to read away, which keeps the connection.
    ///
    /// See ``mostDrainedOctets``.
    package var drains: Bool {
        // Beside `Transfer-Encoding` the length says nothing. Source: RFC 9112 §6.3.
        guard response.version != .http2, !response.fields.contains("Transfer-Encoding") else {
            return false
        }
        guard let length = response.fields.first("Content-Length").flatMap({ Int($0) }) else {
            return false
        }
        return (0...RedirectOffer.mostDrainedOctets).contains(Int64(length))
    }

    /// A body is to come behind the head.
    var hasBody: Bool { response.fields.first("Content-Length").map { Int($0) != 0 } ?? true }

    /// Because: reading 64 KiB costs less than a new TLS connection (two round trips).
    package static let mostDrainedOctets: Int64 = 65_536
}

/// The caller's word on a redirect.
public enum RedirectAnswer: Sendable, Hashable {
    case follow
    /// Hand over the redirecting answer with its body instead.
    case deliver
}
