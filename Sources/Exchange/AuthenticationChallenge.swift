package import HTTPDNSNames

/// A challenge of a 401 answer that this library knows how to meet.
package struct AuthenticationChallenge: Sendable, Hashable {
    /// How user and password travel.
    package enum Scheme: String, Sendable, Hashable {
        /// As they are, in Base64. Source: RFC 7617.
        case basic
        /// As a digest over a nonce of the server. Source: RFC 7616.
        case digest
    }

    /// How it is met.
    package enum Way: Sendable, Hashable {
        case basic
        /// Apart, since requests are copied often and challenges are rare.
        indirect case digest(DigestChallenge)

        package var scheme: Scheme {
            switch self {
            case .basic: .basic
            case .digest: .digest
            }
        }
    }

    package let way: Way
    /// Which part of the server it is for; empty where the server says none.
    package let realm: String

    package var scheme: Scheme { way.scheme }

    /// The challenges of an answer that can be met, the safest first: Digest by the strongest algorithm,
    /// each realm once, then the first Basic.
    ///
    /// - Parameter canCompute: false for an algorithm that this system does not have.
    package static func all(
        in fields: HTTPFields, canCompute: (DigestChallenge.Algorithm) -> Bool = { _ in true }
    ) -> [AuthenticationChallenge] {
        var digests: [DigestChallenge] = []
        var basic: AuthenticationChallenge?
        for value in fields.texts("WWW-Authenticate") {
            var reader = ChallengeReader(value.wire)
            while let read = reader.next() {
                switch Scheme(rawValue: read.scheme.lowercased()) {
                case .digest: DigestChallenge(read.parameters).map { digests.append($0) }
                case .basic:
                    let realm = FieldText(octets: read.parameters["realm"] ?? []).text
                    basic = basic ?? AuthenticationChallenge(way: .basic, realm: realm)
                case nil: break
                }
            }
        }
        var realms: Set<FieldText> = []
        var found: [AuthenticationChallenge] = []
        for algorithm in DigestChallenge.Algorithm.strongestFirst where canCompute(algorithm) {
            for digest in digests where digest.algorithm == algorithm {
                guard realms.insert(digest.realm).inserted else { continue }
                found.append(
                    AuthenticationChallenge(way: .digest(digest), realm: digest.realm.text))
            }
        }
        return found + (basic.map { [$0] } ?? [])
    }
}

/// User and password for one origin. They are sent to no other, whatever redirects say.
package struct OriginCredentials: Sendable, Hashable {
    package let origin: Origin
    package let way: AuthenticationChallenge.Way
    package let user: String
    package let password: Secret

    /// Nil where they cannot travel: a control character in either, or a colon in the user of Basic.
    ///
    /// Source: RFC 7617 §2; a NUL would cut them short on their way.
    package init?(
        _ user: String, _ password: Secret, by way: AuthenticationChallenge.Way,
        for origin: Origin
    ) {
        guard !user.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            !password.revealed.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            way != .basic || !user.utf8.contains(0x3A)
        else { return nil }
        self.origin = origin
        self.way = way
        self.user = user
        self.password = password
    }

    /// What a URL's userinfo says, decoded; nil without one.
    package static func userinfo(of url: HTTPURL) -> (user: String, password: Secret)? {
        guard let userinfo = url.userinfo else { return nil }
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.map {
            String(decoding: PercentEncoding.decoded($0.utf8), as: UTF8.self)
        }
        return (texts[0], Secret(texts.count > 1 ? texts[1] : ""))
    }
}

extension HTTPURL {
    /// The same without user and password.
    package var withoutUserinfo: HTTPURL {
        HTTPURL(origin: origin, target: target, fragment: fragment)
    }
}

/// A challenge as it stands in a field.
private struct ReadChallenge {
    let scheme: String
    /// By their names in lower case.
    private(set) var parameters: [String: [UInt8]] = [:]

    init(scheme: String) { self.scheme = scheme }

    /// Of two of one name the first counts.
    mutating func take(_ name: String, _ value: [UInt8]?) {
        guard let value else { return }
        parameters[name.lowercased()] = parameters[name.lowercased()] ?? value
    }
}

/// Reads a `WWW-Authenticate` value, challenge by challenge.
///
/// A token that no `=` follows begins a challenge; what belongs to it goes on until the next such token.
/// What cannot be read ends the reading: nothing is guessed. Source: RFC 9110 §11.3, §11.6.1.
private struct ChallengeReader {
    private let octets: [UInt8]
    private var at = 0
    /// The scheme that was read past while its predecessor's parameters were looked for.
    private var pending: String?

    init(_ value: [UInt8]) { octets = value }

    /// Nil at the end.
    mutating func next() -> ReadChallenge? {
        guard let scheme = pending ?? token() else { return nil }
        pending = nil
        var challenge = ReadChallenge(scheme: scheme)
        while let name = token() {
            skipSpaces()
            guard take(0x3D) else {
                pending = name
                break
            }
            // `token68` ends with signs of equality, and has no value.
            while take(0x3D) {}
            skipSpaces()
            let value = take(0x22) ? quoted() : unquoted()
            challenge.take(name, value)
        }
        return challenge
    }

    /// The next token, commas and blanks before it skipped.
    private mutating func token() -> String? {
        while at < octets.count, [0x20, 0x09, 0x2C].contains(octets[at]) { at += 1 }
        return word()
    }

    private mutating func word() -> String? {
        let start = at
        while at < octets.count, !ChallengeReader.delimiters.contains(octets[at]) { at += 1 }
        return at > start ? String(decoding: octets[start..<at], as: UTF8.self) : nil
    }

    /// A value that should have been quoted may hold signs of equality: nonces often end with some.
    private mutating func unquoted() -> [UInt8]? {
        let start = at
        while at < octets.count, ![0x20, 0x09, 0x2C, 0x22].contains(octets[at]) { at += 1 }
        return at > start ? Array(octets[start..<at]) : nil
    }

    /// What stands up to the next quotation mark. Source: RFC 9110 §5.6.4.
    private mutating func quoted() -> [UInt8] {
        var text: [UInt8] = []
        while at < octets.count, !take(0x22) {
            if octets[at] == 0x5C, at + 1 < octets.count { at += 1 }
            text.append(octets[at])
            at += 1
        }
        return text
    }

    private mutating func take(_ octet: UInt8) -> Bool {
        guard at < octets.count, octets[at] == octet else { return false }
        at += 1
        return true
    }

    private mutating func skipSpaces() {
        while at < octets.count, octets[at] == 0x20 || octets[at] == 0x09 { at += 1 }
    }

    private static let delimiters: Set<UInt8> = [0x20, 0x09, 0x2C, 0x3D, 0x22]
}
