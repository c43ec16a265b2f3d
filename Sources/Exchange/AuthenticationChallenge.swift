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

    package let scheme: Scheme
    /// Which part of the server it is for; empty where the server says none.
    package let realm: String

    package init(scheme: Scheme, realm: String) {
        self.scheme = scheme
        self.realm = realm
    }

    /// The challenges of an answer that can be met, the safer scheme first; each scheme once, as its
    /// first challenge has it: libcurl answers no other.
    ///
    /// Passed over is a Digest of an algorithm that libcurl cannot compute; one over the body
    /// (`auth-int` alone), which it computes as if there were none; one without a nonce; and one that it
    /// would mix with another challenge of the same field.
    /// Source: RFC 7616 §3.3, §3.4.3, §3.7.
    package static func all(in fields: HTTPFields) -> [AuthenticationChallenge] {
        var found: [(challenge: AuthenticationChallenge, canBeMet: Bool)] = []
        for value in fields.all("WWW-Authenticate") {
            var reader = ChallengeReader(value)
            var field: [ReadChallenge] = []
            while let read = reader.next() { field.append(read) }
            for (place, read) in field.enumerated() {
                guard let scheme = Scheme(rawValue: read.scheme.lowercased()),
                    !found.contains(where: { $0.challenge.scheme == scheme })
                else { continue }
                let isMet = scheme != .digest || canBeMet(place, of: field)
                found.append(
                    (AuthenticationChallenge(scheme: scheme, realm: read["realm"] ?? ""), isMet))
            }
        }
        let met = found.filter(\.canBeMet).map(\.challenge)
        return met.filter { $0.scheme == .digest } + met.filter { $0.scheme == .basic }
    }

    private static func canBeMet(_ place: Int, of field: [ReadChallenge]) -> Bool {
        let digest = field[place]
        guard digest["nonce"] != nil,
            knownAlgorithms.contains((digest["algorithm"] ?? "MD5").lowercased()),
            // libcurl looks for a scheme behind each comma, quoted or not; and from there on it takes a
            // scheme's name and its first parameter for one word that it does not know.
            !field[..<place].contains(where: \.hidesDigest),
            !field[(place + 1)...].contains(where: {
                !digestParameters.isDisjoint(with: $0.names.dropFirst())
            })
        else { return false }
        let qualities = (digest["qop"] ?? "").split(whereSeparator: { ", \t".contains($0) })
        return qualities.isEmpty || qualities.contains { $0.lowercased() == "auth" }
    }

    /// Source: curl 7.88.1, vauth/digest.c, `Curl_auth_decode_digest_http_message`.
    private static let digestParameters: Set = [
        "nonce", "stale", "realm", "opaque", "qop", "algorithm", "userhash",
    ]

    /// Not `SHA-512-256`, which libcurl takes and then answers with SHA-256. Source: curl 7.88.1,
    /// vauth/digest.c, `Curl_auth_create_digest_http_message`.
    private static let knownAlgorithms: Set = ["md5", "md5-sess", "sha-256", "sha-256-sess"]
}

/// User and password for one origin. They are sent to no other, whatever redirects say.
package struct OriginCredentials: Sendable, Hashable {
    package let origin: Origin
    package let scheme: AuthenticationChallenge.Scheme
    package let user: String
    package let password: Secret

    /// Nil where they cannot travel: a control character in either, or a colon in the user of Basic.
    ///
    /// Source: RFC 7617 §2; a NUL would cut them short on their way.
    package init?(
        _ user: String, _ password: Secret, by scheme: AuthenticationChallenge.Scheme,
        for origin: Origin
    ) {
        guard !user.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            !password.revealed.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            scheme != .basic || !user.utf8.contains(0x3A)
        else { return nil }
        self.origin = origin
        self.scheme = scheme
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
    /// In lower case and in order.
    private(set) var names: [String] = []
    private var parameters: [String: String] = [:]

    init(scheme: String) { self.scheme = scheme }

    /// Of two of one name the first counts.
    mutating func take(_ name: String, _ value: String?) {
        names.append(name.lowercased())
        guard let value else { return }
        parameters[name.lowercased()] = parameters[name.lowercased()] ?? value
    }

    subscript(name: String) -> String? { parameters[name] }

    /// A value has the name of the scheme behind a comma.
    var hidesDigest: Bool {
        parameters.values.contains { value in
            value.split(separator: ",").dropFirst().contains { part in
                part.drop { $0 == " " || $0 == "\t" }.lowercased().hasPrefix("digest")
            }
        }
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

    init(_ value: String) { octets = Array(value.utf8) }

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
            let value = take(0x22) ? quoted() : word()
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

    /// What stands up to the next quotation mark. Source: RFC 9110 §5.6.4.
    private mutating func quoted() -> String {
        var text: [UInt8] = []
        while at < octets.count, !take(0x22) {
            if octets[at] == 0x5C, at + 1 < octets.count { at += 1 }
            text.append(octets[at])
            at += 1
        }
        return String(decoding: text, as: UTF8.self)
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
