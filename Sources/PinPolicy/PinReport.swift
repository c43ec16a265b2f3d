internal import HTTPDNSJSON
public import HTTPDNSNames
public import HTTPDNSTrust

/// That a peer did not have the keys which its host is pinned to: what RFC 7469 §3 calls a pin
/// validation failure report, and a few facts more.
public struct PinReport: Sendable, Hashable {
    public var moment: WallTime
    public var host: Host
    public var port: Port
    /// The rule that did not hold, and the chain as the peer sent it.
    public var mismatch: PinMismatch
    /// The chain as it was verified, leaf first.
    public var validated: [CertificateFacts]
    /// Whether the peer was refused; false where the rule only reports.
    public var isRefused: Bool
    /// `no_pin_matched`, `pins_expired`, `user_root_refused`.
    public var code: String
    /// The address connected to; nil where the transport could not say.
    public var address: IPAddress?
    /// Who gave the address: the label of a resolver.
    public var addressGivenBy: String?

    package init(
        moment: WallTime, host: Host, port: Port, mismatch: PinMismatch,
        validated: [CertificateFacts]
    ) {
        self.moment = moment
        self.host = host
        self.port = port
        self.mismatch = mismatch
        self.validated = validated
        isRefused = false
        code = TrustFailure.Code.noPinMatched.label
    }

    /// The JSON object of RFC 7469 §3, in UTF-8. Members that the RFC does not have: `enforced`, `code`,
    /// `expired`, `address`, `address-given-by`.
    public var json: [UInt8] { JSONWriter.octets(.object(object)) }

    private var object: JSONObject {
        let rule = mismatch.rule
        let noted = mismatch.pattern.suffix?.text ?? host.description
        return [
            "date-time": .string(moment.iso8601),
            "hostname": .string(host.description),
            "port": .integer(Int64(port.number)),
            "effective-expiration-date": rule.expiry.map { .string($0.at.iso8601) } ?? .null,
            "include-subdomains": .bool(mismatch.pattern.suffix != nil),
            "noted-hostname": .string(noted),
            "served-certificate-chain": PinReport.pem(mismatch.served),
            "validated-certificate-chain": PinReport.pem(validated),
            "known-pins": .array(
                rule.sortedPins.map { .string("pin-sha256=\"\(Base64.encoded($0.sha256))\"") }),
            "enforced": .bool(isRefused), "code": .string(code),
            "expired": .bool(mismatch.isExpired),
            "address": address.map { .string($0.description) } ?? .null,
            "address-given-by": addressGivenBy.map { .string($0) } ?? .null,
        ]
    }

    private static func pem(_ chain: [CertificateFacts]) -> JSONValue {
        .array(chain.filter { !$0.der.isEmpty }.map { .string(pem($0.der)) })
    }

    /// Source: RFC 7468 §2, §5.
    private static func pem(_ der: [UInt8]) -> String {
        let text = Array(Base64.encoded(der).utf8)
        let lines = stride(from: 0, to: text.count, by: 64).map { start in
            String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self) + "\n"
        }
        return "-----BEGIN CERTIFICATE-----\n\(lines.joined())-----END CERTIFICATE-----\n"
    }
}
