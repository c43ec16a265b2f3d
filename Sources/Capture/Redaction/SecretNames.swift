/// Judges by its name whether a value is a secret.
///
/// Names are made comparable first: lower case, percent-decoded, without `-`, `_`, `.`, brackets
/// and spaces. Not `Sendable`: it remembers what it has judged.
final class SecretNames {
    enum Verdict: Sendable, Hashable {
        case clear
        /// Its value is taken out if it looks made by a machine; see ``isMachineMade(_:)``.
        case suspect
        case secret
    }

    private let added: Set<String>
    private let addedFields: Set<String>
    private let revealed: Set<String>
    private var judged: [[UInt8]: Verdict] = [:]
    private var judgedFields: [String: Verdict] = [:]

    init(_ redaction: CaptureRedaction) {
        let comparable = { (names: Set<String>) in
            Set(names.map { SecretNames.comparable(Array($0.utf8)) })
        }
        added = comparable(redaction.names)
        addedFields = comparable(redaction.fields)
        revealed = comparable(redaction.revealed)
    }

    /// Of a query item, a form field, a member of JSON.
    func verdict(_ name: [UInt8]) -> Verdict {
        if let known = judged[name] { return known }
        let verdict = judge(SecretNames.comparable(name), added)
        if judged.count >= SecretNames.mostRemembered { judged = [:] }
        judged[name] = verdict
        return verdict
    }

    /// Of a header field.
    func verdict(field name: String) -> Verdict {
        if let known = judgedFields[name] { return known }
        let comparable = SecretNames.comparable(Array(name.utf8))
        let verdict =
            SecretNames.plainFields.contains(comparable) ? .clear : judge(comparable, addedFields)
        if judgedFields.count >= SecretNames.mostRemembered { judgedFields = [:] }
        judgedFields[name] = verdict
        return verdict
    }

    private func judge(_ name: String, _ added: Set<String>) -> Verdict {
        if revealed.contains(name) { return .clear }
        if added.contains(name) || SecretNames.whole.contains(name) { return .secret }
        if SecretNames.parts.contains(where: { name.contains($0) }) { return .secret }
        return SecretNames.suspects.contains(name) ? .suspect : .clear
    }

    static func comparable(_ name: [UInt8]) -> String {
        var text: [UInt8] = []
        var rest = name[...]
        while let octet = rest.popFirst() {
            var octet = octet
            if octet == 0x25, rest.count >= 2, let high = hex(rest[rest.startIndex]),
                let low = hex(rest[rest.startIndex + 1])
            {
                octet = high << 4 | low
                rest = rest.dropFirst(2)
            }
            switch octet {
            case 0x2D, 0x5F, 0x2E, 0x20, 0x5B, 0x5D, 0x24: break
            case 0x41...0x5A: text.append(octet | 0x20)
            default: text.append(octet)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func hex(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x30...0x39: octet - 0x30
        case 0x41...0x46: octet - 0x37
        case 0x61...0x66: octet - 0x57
        default: nil
        }
    }

    /// Whether an octet may stand in a token of whatever alphabet.
    static func isOfToken(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D...0x2F, 0x3D, 0x5F, 0x7E, 0x25:
            true
        default: false
        }
    }

    /// How long a value of a suspect name is when nobody typed it.
    ///
    /// Because: MD5 in hexadecimal has 32 digits, the shortest session keys in use 16; words are
    /// shorter.
    static let machineMadeOctets = 16

    /// Names that are secret as a whole; parts of others they may be.
    private static let whole: Set<String> = [
        "pwd", "pass", "auth", "sig", "sign", "hmac", "jwt", "sid", "sk", "ak", "otp", "cvv", "cvc",
        "cookie", "setcookie", "bearer", "assertion", "samlresponse", "enc", "phpsessid",
        "authenticationinfo", "proxyauthenticationinfo",
    ]

    /// Names are secret that hold one of these. Among them: what HTTP-DNS services call their
    /// signatures and keys. Source: facts of the services' documentation, see docs/capture.md.
    private static let parts: [String] = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "credential", "apikey",
        "accesskey", "privatekey", "authkey", "appkey", "signature", "sessid", "sessionid",
        "sessionkey", "authorization", "csrf", "xsrf", "onetimecode", "encryptionkey", "signingkey",
    ]

    /// `s`, `key`: signatures of HTTP-DNS services and of maps; also a search, and any key of a
    /// table. `dn`: the encrypted names of a service.
    private static let suspects: Set<String> = [
        "s", "k", "key", "code", "dn", "auth_id", "session",
    ]

    /// Header fields that only sound like secrets.
    private static let plainFields: Set<String> = [
        "accesscontrolallowcredentials", "secwebsocketkey", "secwebsocketaccept",
        "wwwauthenticate", "proxyauthenticate",
    ]

    /// Because: an application has fewer names; a stranger's JSON may have any number.
    private static let mostRemembered = 4_096
}
