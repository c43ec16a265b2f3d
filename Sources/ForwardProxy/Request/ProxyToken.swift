internal import HTTPDNSNames

/// What a client must show to be served.
struct ProxyToken: Sendable {
    private let token: [UInt8]

    init(_ token: Secret) { self.token = Array(token.revealed.utf8) }

    /// `Basic`, with the token as the password or, without a password, as the user; or `Bearer`.
    /// Source: RFC 7617 §2, RFC 6750 §2.1.
    func isShown(by fields: [String]) -> Bool {
        guard let text = fields.first, fields.count == 1 else { return false }
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2 else { return false }
        switch words[0].lowercased() {
        case "bearer": return isSame(Array(words[1].utf8))
        case "basic":
            guard let shown = Base64.decoded(words[1]),
                let colon = shown.firstIndex(of: 0x3A)
            else { return false }
            let password = shown[(colon + 1)...]
            return isSame(Array(password.isEmpty ? shown[..<colon] : password))
        default: return false
        }
    }

    /// Takes as long wherever the two differ: a guess learns nothing by the clock but the length.
    private func isSame(_ shown: [UInt8]) -> Bool {
        var difference = UInt8(shown.count == token.count ? 0 : 1)
        for (position, octet) in token.enumerated() {
            difference |= octet ^ (position < shown.count ? shown[position] : 0)
        }
        return difference == 0 && !token.isEmpty
    }
}
