internal import Foundation
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Readings of URLs that were asked for a moment ago: Foundation asks whether a request is ours, and
/// the task then reads the same URL again; most applications use few URLs many times.
///
/// Rules:
/// 1. Only what was read without turning a host into A-labels is kept: such a reading is the same
///    whoever reads. What was refused is read anew each time.
/// 2. A URL with user and password is not kept.
final class RecentURLs: Sendable {
    /// Those of the process.
    static let shared = RecentURLs()

    /// A URL as this library reads it.
    struct Reading: Sendable {
        let url: HTTPURL
        /// The canonical text of its host.
        let host: String
        /// The same URL in Foundation's form, without user and password, as responses show it.
        let shown: URL?

        init(_ url: HTTPURL) {
            self.url = url
            host = url.origin.host.description
            shown = URL(string: url.description)
        }
    }

    private let state = Locked([String: Reading]())

    /// The reading of an absolute URL in ASCII.
    func reading(_ text: String) throws(URLFault) -> Reading {
        if let known = state.withLock({ $0[text] }) { return known }
        let reading = Reading(try HTTPURL(text))
        guard reading.url.userinfo == nil, text.utf8.count <= RecentURLs.longestKept else {
            return reading
        }
        state.withLock { kept in
            if kept.count >= RecentURLs.mostKept { kept.removeAll(keepingCapacity: true) }
            kept[text] = reading
        }
        return reading
    }

    /// Because: as many as a busy application has in flight, and some tens of kilobytes at most.
    private static let mostKept = 128
    private static let longestKept = 512
}
