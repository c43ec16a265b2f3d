internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
package import HTTPDNSTrust

/// The revocation lists of one policy, parsed once.
package final class RevocationLists: @unchecked Sendable {
    // Safety: not changed after `init`; looking into it locks what it sorts.
    private let raw: OpaquePointer
    /// Names what was read.
    let material: String

    /// Nil when there are no lists.
    ///
    /// - Parameter profile: the public one demands of a list what RFC 5280 does.
    /// - Throws: ``TrustSetupError``: a file that cannot be read, or that holds no list or a malformed
    ///   one; a list that the profile refuses; or one that is not judged here: a delta or indirect list,
    ///   or one for some reasons or kinds of certificates.
    package init?(
        _ sources: [RevocationPolicy.Lists], profile: TrustPolicy.Profile
    ) throws(TrustSetupError) {
        guard !sources.isEmpty else { return nil }
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let raw = chttpdns_lists_new() else { throw .unexpected(LastError.text) }
        var digests: [String] = []
        do throws(TrustSetupError) {
            for source in sources {
                digests.append(try RevocationLists.add(source, to: raw, profile))
            }
        } catch {
            // There is no object yet whose end would do it.
            chttpdns_lists_free(raw)
            throw error
        }
        self.raw = raw
        material = digests.joined(separator: ",")
    }

    deinit { chttpdns_lists_free(raw) }

    private static func add(
        _ source: RevocationPolicy.Lists, to raw: OpaquePointer, _ profile: TrustPolicy.Profile
    ) throws(TrustSetupError) -> String {
        let octets: [UInt8]
        let place: String
        switch source {
        case .file(let path): (octets, place) = (try PolicyFile.read(path, as: what), path)
        case .pem(let text): (octets, place) = (Array(text.utf8), "the given PEM text")
        }
        let added = octets.withUnsafeBytes { octets in
            guard let base = octets.baseAddress else { return Int32(0) }
            return chttpdns_lists_add(
                raw, base.assumingMemoryBound(to: CChar.self), octets.count)
        }
        guard added != 0 else {
            throw .unusable(
                what: what, source: place, reason: "expected '-----BEGIN X509 CRL-----' (PEM)")
        }
        guard added > 0 else {
            throw .unusable(
                what: what, source: place,
                reason: "list \(-added) is malformed: \(LastError.ofFile)")
        }
        // Those that came before have passed.
        var number: Int32 = 0
        if let kind = chttpdns_lists_unjudged(raw, added, &number) {
            throw .unusable(
                what: what, source: place,
                reason: "list \(number) is not judged: \(String(cString: kind))")
        }
        if profile == .publicWeb, let fault = chttpdns_lists_fault(raw) {
            throw .unusable(what: what, source: place, reason: String(cString: fault))
        }
        return try PolicyFile.digest(octets)
    }

    /// What they say of each certificate of a verified chain, leaf first.
    func findings(_ chain: OpaquePointer, now: WallTime) -> [ListFinding] {
        let count = Int(max(0, chttpdns_certificates_count(chain)))
        var found = [chttpdns_list_finding](repeating: chttpdns_list_finding(), count: count)
        let written = chttpdns_lists_check(
            raw, chain, now.secondsSince1970, &found, Int32(clamping: count))
        guard written == Int32(count) else {
            // Nothing is known of any; said, not passed over.
            return [ListFinding](
                repeating: .unusable("cannot be checked: \(LastError.text)"), count: count)
        }
        return found.map(RevocationLists.finding)
    }

    private static func finding(_ found: chttpdns_list_finding) -> ListFinding {
        switch Int(found.state) {
        case CHTTPDNS_LIST_GOOD:
            return .good(
                until: found.until == Int64.min
                    ? nil : WallTime(secondsSince1970: found.until))
        case CHTTPDNS_LIST_REVOKED: return .revoked
        case CHTTPDNS_LIST_NONE: return .unlisted
        default:
            if Int(found.error) == CHTTPDNS_LIST_HAS_NO_END { return .unusable("names no end") }
            let words = String(cString: X509_verify_cert_error_string(Int(found.error)))
            return .unusable("proves nothing: \(words)")
        }
    }

    private static let what = "revocation list"
}
