package import HTTPDNSNames

/// A Digest challenge that can be met, and the answer to it. The hash itself is handed in.
///
/// What cannot be met is none: an algorithm that is not known, protection of the body alone
/// (`auth-int`), no nonce, and `-sess` without a quality of protection, which leaves open what the
/// session is begun with. Source: RFC 7616 §3.3, §3.4, which make both parameters required.
package struct DigestChallenge: Sendable, Hashable {
    /// Source: RFC 7616 §6.1.
    package enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case sha512Half = "SHA-512-256"
        case sha256 = "SHA-256"
        case md5 = "MD5"

        /// Whoever lists the strongest one last, as RFC 7616 §3.7 has servers list the preferred one
        /// first, would otherwise have MD5 from all that know no better.
        package static let strongestFirst: [Algorithm] = [.sha512Half, .sha256, .md5]
    }

    package let realm: FieldText
    package let algorithm: Algorithm
    /// The nonce of an answer that was right is no longer taken.
    package let isStale: Bool
    private let nonce: [UInt8]
    private let opaque: [UInt8]?
    /// Servers from before algorithms had names need not know the word.
    private let namesAlgorithm: Bool
    /// The hash of user and password is bound to the nonce. Source: RFC 7616 §3.4.2.
    private let isSession: Bool
    /// Source: RFC 7616 §3.4.1; without it as in RFC 2069.
    private let hasQuality: Bool
    private let hashesUser: Bool

    /// One use of a challenge.
    package struct Use: Sendable, Hashable {
        let method: HTTPMethod
        /// What stands on the request line.
        let target: String
        /// How often the nonce was used, this time among them.
        let count: UInt32
        /// Something that the server cannot choose.
        let clientNonce: String

        package init(method: HTTPMethod, target: String, count: UInt32, clientNonce: String) {
            self.method = method
            self.target = target
            self.count = count
            self.clientNonce = clientNonce
        }
    }

    /// Nil for one that cannot be met.
    ///
    /// - Parameter parameters: by their names in lower case.
    init?(_ parameters: [String: [UInt8]]) {
        func text(_ name: String) -> String? {
            parameters[name].map { String(decoding: $0, as: UTF8.self).lowercased() }
        }
        let named = text("algorithm")
        guard let nonce = parameters["nonce"],
            let (algorithm, isSession) = DigestChallenge.algorithm(named ?? "md5")
        else { return nil }
        let qualities = (text("qop") ?? "").split(whereSeparator: { ", \t".contains($0) })
        hasQuality = qualities.contains("auth")
        guard hasQuality || (qualities.isEmpty && !isSession) else { return nil }
        self.nonce = nonce
        self.algorithm = algorithm
        self.isSession = isSession
        namesAlgorithm = named != nil
        realm = FieldText(octets: parameters["realm"] ?? [])
        opaque = parameters["opaque"]
        isStale = text("stale") == "true"
        hashesUser = text("userhash") == "true"
    }

    private static func algorithm(_ name: String) -> (Algorithm, isSession: Bool)? {
        for algorithm in Algorithm.allCases {
            let plain = algorithm.rawValue.lowercased()
            if name == plain { return (algorithm, false) }
            if name == plain + "-sess" { return (algorithm, true) }
        }
        return nil
    }

    /// The value of `Authorization`. Source: RFC 7616 §3.4.
    ///
    /// - Parameter hash: that of ``algorithm``.
    package func answer<Fault>(
        _ user: String, _ password: Secret, for use: Use,
        hash: ([UInt8]) throws(Fault) -> [UInt8]
    ) throws(Fault) -> [UInt8] {
        func hashed(_ parts: [UInt8]...) throws(Fault) -> [UInt8] {
            Array(Hex.encoded(try hash(Array(parts.joined(separator: [0x3A])))).utf8)
        }
        let (name, own) = (Array(user.utf8), Array(use.clientNonce.utf8))
        let count = DigestChallenge.eightDigits(use.count)
        var first = try hashed(name, realm.wire, Array(password.revealed.utf8))
        if isSession { first = try hashed(first, nonce, own) }
        let second = try hashed(Array(use.method.text.utf8), Array(use.target.utf8))
        let response =
            hasQuality
            ? try hashed(first, nonce, Array(count.utf8), own, Array("auth".utf8), second)
            : try hashed(first, nonce, second)

        var list = FieldParameters("Digest")
        list.quote("username", hashesUser ? try hashed(name, realm.wire) : name)
        list.quote("realm", realm.wire)
        list.quote("nonce", nonce)
        list.quote("uri", Array(use.target.utf8))
        if hasQuality {
            list.quote("cnonce", own)
            list.add("nc", count)
            list.add("qop", "auth")
        }
        list.quote("response", response)
        if let opaque { list.quote("opaque", opaque) }
        if namesAlgorithm { list.add("algorithm", algorithm.rawValue + (isSession ? "-sess" : "")) }
        if hashesUser { list.add("userhash", "true") }
        return list.octets
    }

    /// Source: RFC 7616 §3.4, `nc-value`.
    private static func eightDigits(_ count: UInt32) -> String {
        Hex.encoded((0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) })
    }
}

/// `Scheme a="b", c=d`.
private struct FieldParameters {
    private(set) var octets: [UInt8]
    private var isFirst = true

    init(_ scheme: String) { octets = Array(scheme.utf8) }

    mutating func add(_ name: String, _ value: String) {
        begin(name)
        octets += value.utf8
    }

    /// Source: RFC 9110 §5.6.4.
    mutating func quote(_ name: String, _ value: [UInt8]) {
        begin(name)
        octets.append(0x22)
        for octet in value {
            if octet == 0x22 || octet == 0x5C { octets.append(0x5C) }
            octets.append(octet)
        }
        octets.append(0x22)
    }

    private mutating func begin(_ name: String) {
        octets += (isFirst ? " " : ", ").utf8
        isFirst = false
        octets += (name + "=").utf8
    }
}
