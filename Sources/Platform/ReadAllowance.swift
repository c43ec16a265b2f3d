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
    ///
    /// - Parameter isOneRecord: what begins as one record of TLS, and no other.
    package static func renew(isOneRecord: Bool = false) {
        httpdns_thread_set_allowance(isOneRecord ? 1 : ReadAllowance.octets)
    }

    /// Nothing is begun until it is renewed or given back; what was left.
    package static func withhold() -> Int64 {
        defer { httpdns_thread_set_allowance(0) }
        return httpdns_thread_allowance()
    }

    package static func giveBack(_ octets: Int64) { httpdns_thread_set_allowance(octets) }

    /// Whether the peer has to wait until the loop comes round again; what was begun is read to its
    /// end.
    package static var isSpent: Bool { httpdns_thread_allowance() <= 0 }

    /// Whether more was read than what was begun can hold.
    package static var isOverdrawn: Bool { httpdns_thread_allowance() < -ReadAllowance.overdraft }

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

    /// Source: RFC 5246 §6.2.3: the longest record of TLS 1.2, and its header; RFC 8446 §5.2 has a
    /// shorter one.
    private static let overdraft: Int64 = 16_384 + 2_048 + 5
}
