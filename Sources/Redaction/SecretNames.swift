/// Judges by its name whether a value is a secret.
///
/// Names are made comparable first: lower case, percent-decoded, without `-`, `_`, `.`, brackets
/// and spaces. The last part of a name counts by itself, too: `user[pass]`, `userPwd`, `X-Auth`.
/// Not `Sendable`: it remembers what it has judged.
package final class SecretNames {
    package enum Verdict: Int, Sendable, Hashable, Comparable {
        case clear
        /// Its value is taken out if it looks made by a machine: ``machineMadeOctets``.
        case suspect
        case secret

        package static func < (left: Verdict, right: Verdict) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    private let added: Set<String>
    private let addedFields: Set<String>
    private let revealed: Set<String>
    private var judged: [[UInt8]: Verdict] = [:]
    private var judgedFields: [String: Verdict] = [:]
    private var natures: [String: BodyNature] = [:]

    /// By the list of this project, and more.
    ///
    /// - Parameters:
    ///   - added: more names of values that are secret.
    ///   - addedFields: more header fields that are.
    ///   - revealed: names that are not, whatever is said elsewhere.
    package init(
        added: Set<String> = [], addedFields: Set<String> = [], revealed: Set<String> = []
    ) {
        let comparable = { (names: Set<String>) in
            Set(names.map { SecretNames.comparable(Array($0.utf8)) })
        }
        self.added = comparable(added)
        self.addedFields = comparable(addedFields)
        self.revealed = comparable(revealed)
    }

    /// What stands in the place of what was taken out.
    package static let placeholder = "REDACTED"

    /// Of a query item, a form field, a member of JSON.
    package func verdict(_ name: [UInt8]) -> Verdict {
        if let known = judged[name] { return known }
        let verdict = judge(name, added)
        if judged.count >= SecretNames.mostRemembered { judged = [:] }
        judged[name] = verdict
        return verdict
    }

    /// Of a header field.
    package func verdict(field name: String) -> Verdict {
        if let known = judgedFields[name] { return known }
        let octets = Array(name.utf8)
        let verdict =
            SecretNames.plainFields.contains(SecretNames.comparable(octets))
            ? .clear : judge(octets, addedFields)
        if judgedFields.count >= SecretNames.mostRemembered { judgedFields = [:] }
        judgedFields[name] = verdict
        return verdict
    }

    /// Whether a header field of that name stays, whatever is said elsewhere.
    package func reveals(field name: String) -> Bool {
        !revealed.isEmpty && revealed.contains(SecretNames.comparable(Array(name.utf8)))
    }

    /// Of a body of that type.
    package func nature(of mediaType: String?) -> BodyNature {
        let key = mediaType ?? ""
        if let known = natures[key] { return known }
        let nature = BodyNature(mediaType)
        guard key.utf8.count <= SecretNames.longestRemembered else { return nature }
        if natures.count >= SecretNames.mostRemembered { natures = [:] }
        natures[key] = nature
        return nature
    }

    private func judge(_ octets: [UInt8], _ added: Set<String>) -> Verdict {
        let name = SecretNames.comparable(octets)
        let whole = judge(name, added)
        guard whole != .secret, !revealed.contains(name) else { return whole }
        let (inner, word) = SecretNames.lastParts(of: octets)
        let parts = [inner == name ? .clear : judge(inner, added), judge(lastWord: word)]
        if parts.contains(.secret) { return .secret }
        return parts.contains(.suspect) ? .suspect : whole
    }

    /// Because: `String.contains` makes a table for each search, which costs more than all else here.
    private static func holdsPart(_ name: [UInt8]) -> Bool {
        for place in name.indices {
            for part in partsByFirst[Int(name[place])]
            where name.count - place >= part.count && name[place...].starts(with: part) {
                return true
            }
        }
        return false
    }

    private func judge(lastWord word: String) -> Verdict {
        if revealed.contains(word) { return .clear }
        if SecretNames.lastWords.contains(word) { return .secret }
        return SecretNames.suspectLastWords.contains(word) ? .suspect : .clear
    }

    private func judge(_ name: String, _ added: Set<String>) -> Verdict {
        if revealed.contains(name) { return .clear }
        if added.contains(name) || SecretNames.whole.contains(name) { return .secret }
        if SecretNames.holdsPart(Array(name.utf8)) { return .secret }
        return SecretNames.suspects.contains(name) ? .suspect : .clear
    }

    /// Whether a line of that name is all credentials, to its end: `Authorization`, `Cookie`.
    package static func isCredentialField(_ name: [UInt8]) -> Bool {
        let name = comparable(name)
        return name.hasSuffix("authorization") || name == "authentication"
            || credentialFields.contains(name) || name.contains("setcookie")
    }

    /// The member that an object has which is a key. Source: RFC 7517 §4.1.
    package static func isKeyType(_ name: [UInt8]) -> Bool { name == Array("kty".utf8) }

    /// The members of such a key that are private, but for those that are called so elsewhere. Source:
    /// RFC 7518 §6.2.2, §6.3.2, §6.4.1.
    package static func isMemberOfKey(_ name: [UInt8]) -> Bool {
        guard (1...3).contains(name.count) else { return false }
        return privateMembers.contains(String(decoding: name, as: UTF8.self))
    }

    private static let privateMembers: Set<String> = [
        "d", "p", "q", "dp", "dq", "qi", "k", "oth",
    ]

    static func comparable(_ name: [UInt8]) -> String {
        String(
            decoding: decoded(name).filter { !isSeparator($0) }.map(lowercased), as: UTF8.self)
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }

    private static func isSeparator(_ octet: UInt8) -> Bool {
        [0x2D, 0x5F, 0x2E, 0x20, 0x5B, 0x5D, 0x24].contains(octet)
    }

    private static func decoded(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(0x25) else { return name }
        var octets: [UInt8] = []
        var rest = name[...]
        while let octet = rest.popFirst() {
            if octet == 0x25, rest.count >= 2, let high = hex(rest[rest.startIndex]),
                let low = hex(rest[rest.startIndex + 1])
            {
                octets.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet)
            }
        }
        return octets
    }

    /// What stands in the last brackets or behind the last dot, and the last word of all:
    /// `userPass` and `pass` of `form[userPass]`. Comparable.
    private static func lastParts(of name: [UInt8]) -> (inner: String, word: String) {
        let octets = decoded(name)
        let inner = octets.split { [0x2E, 0x5B, 0x5D, 0x24].contains($0) }.last ?? []
        let last = inner.split(whereSeparator: isSeparator).last ?? []
        var start = last.startIndex
        let isUpper = { (octet: UInt8) in (0x41...0x5A).contains(octet) }
        for place in last.indices.dropFirst() where isUpper(last[place]) {
            let isBehindUpper = isUpper(last[place - 1])
            let isBeforeLower = place + 1 < last.endIndex && !isUpper(last[place + 1])
            if !isBehindUpper || isBeforeLower { start = place }
        }
        return (comparable(Array(inner)), comparable(Array(last[start...])))
    }

    package static func hex(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x30...0x39: octet - 0x30
        case 0x41...0x46: octet - 0x37
        case 0x61...0x66: octet - 0x57
        default: nil
        }
    }

    /// Whether an octet may stand in a token of whatever alphabet.
    package static func isOfToken(_ octet: UInt8) -> Bool {
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
    package static let machineMadeOctets = 16

    /// Names that are secret as a whole; parts of others they may be.
    private static let whole: Set<String> = [
        "pwd", "pass", "auth", "sig", "sign", "hmac", "jwt", "sid", "sk", "ak", "otp", "cvv", "cvc",
        "cookie", "setcookie", "bearer", "assertion", "samlresponse", "enc", "phpsessid",
        "authenticationinfo", "proxyauthenticationinfo", "oauth", "cookies", "jwts", "otps", "pwds",
        "assertions", "pw", "creds", "cred", "totp", "hotp", "authentication",
    ]

    /// Fields whose value has blanks, commas and semicolons in it.
    private static let credentialFields: Set<String> = [
        "cookie", "cookie2", "setcookie", "setcookie2",
    ]

    /// Names are secret whose last word is one of these. Those of ``whole`` that are also syllables
    /// of other things, as languages, are not among them.
    private static let lastWords: Set<String> = [
        "pwd", "pass", "auth", "oauth", "sig", "sign", "hmac", "jwt", "sid", "otp", "cvv", "cvc",
        "cookie", "bearer", "assertion", "cookies", "jwts", "otps", "pwds", "assertions", "pw",
        "creds", "totp", "hotp",
    ]

    /// Names are suspect whose last word is one of these. A code is mostly that of an error.
    private static let suspectLastWords: Set<String> = [
        "key", "session", "keys", "sessions", "ticket",
    ]

    /// Names are secret that hold one of these. Among them: what HTTP-DNS services call their
    /// signatures and keys. Source: facts of the services' documentation, see docs/capture.md.
    private static let parts: [String] = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "credential", "apikey",
        "accesskey", "privatekey", "authkey", "appkey", "signature", "sessid", "sessionid",
        "sessionkey", "authorization", "setcookie", "csrf", "xsrf", "onetimecode", "encryptionkey",
        "signingkey",
        "codeverifier", "oauthverifier", "devicecode", "verificationcode", "verifycode", "smscode",
        "otpcode", "mfacode", "twofactorcode", "2facode", "authcode", "backupcode", "recoverycode",
        "onetimepin",
    ]

    /// These by their first octet.
    private static let partsByFirst: [[[UInt8]]] = (0...UInt8.max).map { first in
        parts.map { Array($0.utf8) }.filter { $0.first == first }
    }

    /// `s`, `key`: signatures of HTTP-DNS services and of maps; also a search, and any key of a
    /// table. `dn`: the encrypted names of a service. `ticket`: what CAS logs in by, or a number of
    /// somebody's queue.
    private static let suspects: Set<String> = [
        "s", "k", "key", "code", "dn", "authid", "session", "keys", "codes", "sessions", "ticket",
    ]

    /// Header fields that only sound like secrets.
    private static let plainFields: Set<String> = [
        "accesscontrolallowcredentials", "secwebsocketkey", "secwebsocketaccept",
        "wwwauthenticate", "proxyauthenticate", "surrogatekey", "xcachekey", "idempotencykey",
    ]

    /// Because: an application has fewer names; a stranger's JSON may have any number.
    private static let mostRemembered = 4_096
    /// Because: a type with its alphabet is shorter; a boundary makes each one another.
    private static let longestRemembered = 64
}
