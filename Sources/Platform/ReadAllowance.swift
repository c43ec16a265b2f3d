internal import CHTTPDNSSystem

/// How much this thread may read from one peer before it looks at its clock and at everybody else.
///
/// Libraries that read "until there is nothing more" never come back from a peer that always has
/// more to say. The loop renews the allowance before each call into such a library; what reads for
/// the library says "nothing there for now" once it is spent.
///
/// A thread that never renews it has no limit.
package enum ReadAllowance {
    /// Before the next call into a library that reads.
    package static func renew() { httpdns_thread_set_allowance(ReadAllowance.octets) }

    /// Whether the peer has to wait until the loop comes round again.
    package static var isSpent: Bool { httpdns_thread_allowance() <= 0 }

    /// Notes what was read.
    package static func take(_ octets: Int) {
        let left = httpdns_thread_allowance()
        guard left != .max else { return }
        httpdns_thread_set_allowance(left.subtractingReportingOverflow(Int64(octets)).partialValue)
    }

    /// Because: of empty HTTP/2 frames, 9 octets each, libcurl takes what fits in some
    /// milliseconds; of a body that comes fast, it is sixteen TLS records, so that asking once more
    /// is not noticed.
    package static let octets: Int64 = 256 * 1_024
}
