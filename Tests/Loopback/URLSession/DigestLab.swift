import HTTPDNSDigest
import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// An origin that wants a Digest of one kind, and reads the answer as RFC 7616 says.
final class DigestLab: Sendable {
    /// What is asked for.
    struct Kind: Sendable, CustomTestStringConvertible {
        /// The values of `WWW-Authenticate`; `NONCE` stands for the nonce.
        let challenges: [String]
        var realm = "lab"
        var algorithm = DigestChallenge.Algorithm.md5
        var isSession = false
        var hasQuality = true
        var hashesUser = false
        var opaque: String?
        var user = "u"
        /// The first nonce is good once, and then told to be stale.
        var goesStale = false

        var testDescription: String { challenges.joined(separator: " | ") }
    }

    static let password = "p:ä"
    let kind: Kind
    private let refused = Locked(0)

    init(_ kind: Kind) { self.kind = kind }

    /// Right answers to a nonce that is stale by now.
    var staleAnswers: Int { refused.withLock { $0 } }

    func answer(_ request: LabRequest) -> LabResponse {
        let sent = request.value(of: "Authorization").map(DigestLab.parameters) ?? [:]
        let nonce = sent["nonce"] ?? ""
        let isRight = isRight(sent, request)
        if isRight, !kind.goesStale || nonce == "new" {
            var answer = LabResponse.text("welcome")
            answer.fields.append(LabField("Authentication-Info", #"nextnonce="other""#))
            return answer
        }
        if isRight { refused.withLock { $0 += 1 } }
        var answer = LabResponse.text("who?", status: 401)
        let isStale = kind.goesStale && isRight
        for challenge in kind.challenges {
            answer.fields.append(
                LabField(
                    "WWW-Authenticate",
                    challenge.replacing("NONCE", with: isStale ? "new" : "old")
                        + (isStale ? ", stale=TRUE" : "")))
        }
        return answer
    }

    private func isRight(_ sent: [String: String], _ request: LabRequest) -> Bool {
        guard let nonce = sent["nonce"], let uri = sent["uri"], uri == request.target,
            sent["realm"] == kind.realm, sent["opaque"] == kind.opaque
        else { return false }
        let name = kind.hashesUser ? hash("\(kind.user):\(kind.realm)") : kind.user
        guard sent["username"] == name, (sent["userhash"] == "true") == kind.hashesUser else {
            return false
        }
        let (count, own) = (sent["nc"] ?? "", sent["cnonce"] ?? "")
        var first = hash("\(kind.user):\(kind.realm):\(DigestLab.password)")
        if kind.isSession { first = hash("\(first):\(nonce):\(own)") }
        let second = hash("\(request.method):\(uri)")
        guard kind.hasQuality else {
            return sent["qop"] == nil && sent["response"] == hash("\(first):\(nonce):\(second)")
        }
        return sent["qop"] == "auth"
            && sent["response"] == hash("\(first):\(nonce):\(count):\(own):auth:\(second)")
    }

    private func hash(_ text: String) -> String {
        let octets =
            switch kind.algorithm {
            case .md5: try? Digest.md5(text.utf8)
            case .sha256: try? Digest.sha256(text.utf8)
            case .sha512Half: try? Digest.sha512Half(text.utf8)
            }
        return octets.map(Hex.encoded) ?? "none"
    }

    /// Those of `Digest a="b, \"c\"", d=e`.
    private static func parameters(_ value: String) -> [String: String] {
        guard value.hasPrefix("Digest ") else { return [:] }
        var found: [String: String] = [:]
        var rest = value.dropFirst(7)[...]
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].filter { $0 != " " && $0 != "," }
            rest = rest[rest.index(after: equals)...]
            var text = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let next = rest.popFirst(), next != "\"" {
                    text.append(next == "\\" ? rest.popFirst() ?? next : next)
                }
            } else {
                while let next = rest.first, next != "," {
                    text.append(next)
                    rest = rest.dropFirst()
                }
            }
            found[name] = text
        }
        return found
    }
}
