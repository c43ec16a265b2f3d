internal import CHTTPDNSOpenSSL
internal import HTTPDNSNames
internal import HTTPDNSTrust

/// The logs that one policy knows, and what they have promised about a certificate.
final class TransparencyLogs: @unchecked Sendable {
    // Safety: not changed after `init`; checking only looks a log up in it.
    private let raw: OpaquePointer
    /// By identifier: the SHA-256 of the key. Source: RFC 6962 §3.2.
    private let known: [[UInt8]: KnownLog]
    /// Names what was read.
    let material: String

    /// Nil when no logs are given: then every time stamp is of an unknown log.
    ///
    /// - Throws: ``TrustSetupError``.
    init?(_ sources: [TransparencyPolicy.Logs]) throws(TrustSetupError) {
        guard !sources.isEmpty else { return nil }
        ERR_clear_error()
        defer { ERR_clear_error() }
        var known: [[UInt8]: KnownLog] = [:]
        var digests: [String] = []
        for source in sources {
            let octets: [UInt8]
            let place: String
            switch source {
            case .file(let path): (octets, place) = (try PolicyFile.read(path, as: Self.what), path)
            case .text(let text): (octets, place) = (Array(text.utf8), "the given text")
            }
            digests.append(try PolicyFile.digest(octets))
            do {
                for log in try LogListReader.logs(octets) {
                    guard let identifier = PolicyFile.sha256(log.key) else { continue }
                    known[identifier] = log
                }
            } catch {
                throw .unusable(what: Self.what, source: place, reason: error.reason)
            }
        }
        let configuration = Array(Self.configuration(known.values.map(\.key)).utf8)
        let raw = configuration.withUnsafeBytes { octets in
            octets.baseAddress.flatMap {
                chttpdns_logs_new($0.assumingMemoryBound(to: CChar.self), octets.count)
            }
        }
        guard let raw else {
            throw .unusable(
                what: Self.what, source: "the policy",
                reason: "OpenSSL takes not every key in it: \(LastError.text)")
        }
        self.raw = raw
        self.known = known
        material = digests.joined(separator: ",")
    }

    deinit { chttpdns_logs_free(raw) }

    /// What OpenSSL reads. Names from outside stay outside: the form has variables and comments.
    private static func configuration(_ keys: [[UInt8]]) -> String {
        let names = keys.indices.map { "log\($0)" }
        var text = "enabled_logs = " + names.joined(separator: ",") + "\n"
        for (name, key) in zip(names, keys) {
            text += "[\(name)]\ndescription = \(name)\nkey = \(Base64.encoded(key))\n"
        }
        return text
    }

    /// The time stamps embedded in `leaf`, signed for with the key of its verified `issuer`.
    func report(leaf: OpaquePointer, issuer: OpaquePointer, now: WallTime) -> TransparencyReport {
        var stamps = [chttpdns_stamp](repeating: chttpdns_stamp(), count: Self.mostStamps)
        let count = chttpdns_stamps_check(
            leaf, issuer, raw, now.secondsSince1970, &stamps, Int32(stamps.count))
        // A list that does not parse is one time stamp that is invalid.
        guard count >= 0 else {
            return TransparencyReport(status: .checked, embeddedCount: 1, invalidCount: 1)
        }
        return report(stamps.prefix(Int(count)), count: Int(count))
    }

    /// The time stamps that the peer sent beside `leaf`: in the handshake, and in its staple.
    func report(
        sentOn connection: OpaquePointer, leaf: OpaquePointer, issuer: OpaquePointer, now: WallTime
    ) -> TransparencyReport {
        ERR_clear_error()
        defer { ERR_clear_error() }
        var stamps = [chttpdns_stamp](repeating: chttpdns_stamp(), count: Self.mostStamps)
        let count = chttpdns_sent_stamps_check(
            connection, leaf, issuer, raw, now.secondsSince1970, &stamps, Int32(stamps.count))
        guard count >= 0 else {
            return TransparencyReport(status: .checked, handshakeCount: 1, invalidCount: 1)
        }
        return report(stamps.prefix(Int(count)), count: Int(count))
    }

    private func report(_ stamps: ArraySlice<chttpdns_stamp>, count: Int) -> TransparencyReport {
        var logs: [TransparencyReport.Log] = []
        var seen: Set<[UInt8]> = []
        var unknown = 0
        var invalid = 0
        for stamp in stamps {
            let identifier = withUnsafeBytes(of: stamp.log) { Array($0) }
            switch Int(stamp.state) {
            case CHTTPDNS_STAMP_VALID:
                guard let log = known[identifier],
                    log.retiredAtMilliseconds.map({ stamp.at_milliseconds < $0 }) ?? true
                else {
                    unknown += 1
                    continue
                }
                guard seen.insert(identifier).inserted else { continue }
                logs.append(
                    .init(
                        name: log.name ?? Hex.encoded(identifier), runner: log.runner,
                        identifier: identifier))
            case CHTTPDNS_STAMP_UNKNOWN_LOG: unknown += 1
            default: invalid += 1
            }
        }
        let inHandshake = stamps.count { Int($0.source) == CHTTPDNS_STAMP_IN_HANDSHAKE }
        let inStaple = stamps.count { Int($0.source) == CHTTPDNS_STAMP_IN_STAPLE }
        // Those beyond the bound are not looked at, but counted.
        let isSent = inHandshake + inStaple > 0
        return TransparencyReport(
            status: .checked, logs: logs, embeddedCount: isSent ? 0 : count,
            handshakeCount: isSent ? count - inStaple : 0, stapledCount: inStaple,
            unknownCount: unknown, invalidCount: invalid)
    }

    private static let what = "list of logs"

    /// Because: certificates have two to five; each costs a signature.
    private static let mostStamps = 32
}
