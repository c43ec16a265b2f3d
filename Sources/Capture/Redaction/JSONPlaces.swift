internal import HTTPDNSRedaction

/// Where in a JSON text a string stands, as far as its secrets depend on it.
///
/// Rules:
/// 1. What a suspect's object or array holds is suspect, at any depth: `{"keys":{"a":"…"}}`.
/// 2. The member `value` of an object has for its name what a member `name` or `key` before it says:
///    `{"name":"password","value":"…"}`, as HAR files have it.
/// 3. The string behind one that is called like a field of credentials, or like an option of a command,
///    belongs to it, in an array: `["Cookie","…"]`, `["--password","…"]`.
/// 4. `d`, `p`, `q` and so on are secret in an object that is a key, by its `kty`.
struct JSONPlaces {
    /// What a member does for others of its object.
    enum Role: Hashable {
        case none
        /// Says what `value` is called.
        case names
        case holds
        /// Is a part of a private key, if its object is one.
        case ofKey
    }

    private struct Bracket {
        let isObject: Bool
        /// Of what it is the value of.
        let verdict: SecretNames.Verdict
        /// Of what its member `name` says.
        var named = SecretNames.Verdict.clear
        /// It has a member `kty`.
        var isKey = false
    }

    private var open: [Bracket] = []
    /// Brackets that are open beyond those.
    private var deeper = 0
    /// The value that comes next is that of a member.
    private var isBehindColon = false
    private(set) var role = Role.none
    /// The next string begins a member.
    private var awaitsName = false

    /// Of what the brackets around say, for a value that has no name of its own.
    private var inherited: SecretNames.Verdict {
        deeper > 0 ? deepest : open.last?.verdict ?? .clear
    }
    private var deepest = SecretNames.Verdict.clear

    /// Strings are no names here, but one behind another.
    var isInArray: Bool { deeper > 0 || open.last?.isObject != true }

    /// An octet outside of strings.
    ///
    /// - Parameter verdict: of the name before a bracket that opens.
    mutating func take(_ octet: UInt8, _ verdict: SecretNames.Verdict = .clear) {
        switch octet {
        case 0x7B, 0x5B:
            let verdict = max(verdict, inherited)
            if open.count < JSONPlaces.mostOpen {
                open.append(Bracket(isObject: octet == 0x7B, verdict: verdict))
            } else {
                deeper += 1
                deepest = max(deepest, verdict)
            }
            awaitsName = octet == 0x7B && deeper == 0
        case 0x7D, 0x5D:
            if deeper > 0 { deeper -= 1 } else { _ = open.popLast() }
            if deeper == 0 { deepest = .clear }
            awaitsName = false
        case 0x2C: awaitsName = deeper == 0 && open.last?.isObject == true
        default: return
        }
        isBehindColon = false
        role = .none
    }

    /// A string begins: its verdict as a value.
    mutating func beginString() -> SecretNames.Verdict {
        defer { awaitsName = false }
        return awaitsName ? .clear : inherited
    }

    /// The string that has ended is a name: what is due to its value.
    mutating func name(
        _ name: [UInt8], _ verdict: SecretNames.Verdict
    ) -> SecretNames.Verdict {
        isBehindColon = true
        role = JSONPlaces.role(of: name)
        let named = role == .holds && deeper == 0 ? open.last?.named ?? .clear : .clear
        let known = max(verdict, named, inherited)
        guard name.count <= 3, deeper == 0, !open.isEmpty else { return known }
        return max(known, ofKey(name, known))
    }

    /// Behind `kty` a secret; before it what looks made by a machine is taken for one.
    private mutating func ofKey(
        _ name: [UInt8], _ known: SecretNames.Verdict
    ) -> SecretNames.Verdict {
        if SecretNames.isKeyType(name) { open[open.count - 1].isKey = true }
        guard SecretNames.isMemberOfKey(name) else { return .clear }
        if open.last?.isKey == true { return .secret }
        if known == .clear { role = .ofKey }
        return .suspect
    }

    /// The string that has ended is no name, and says so.
    mutating func value(_ text: [UInt8], _ names: SecretNames) {
        guard isBehindColon, role == .names, deeper == 0, !open.isEmpty else { return }
        open[open.count - 1].named = names.verdict(text)
    }

    /// The string that has ended stands in no object: what follows a comma is due to it.
    func following(_ text: [UInt8], _ names: SecretNames) -> SecretNames.Verdict {
        guard !isBehindColon, text.count <= JSONPlaces.longestField else { return .clear }
        // An option of a command: `["--password","…"]`.
        if isInArray, TextScanner.isOption(text, names) { return .secret }
        return SecretNames.isCredentialField(text) ? .secret : .clear
    }

    private static func role(of name: [UInt8]) -> Role {
        guard name.count <= 5 else { return .none }
        switch String(decoding: name, as: UTF8.self).lowercased() {
        case "name", "key", "field": return .names
        case "value": return .holds
        default: return .none
        }
    }

    /// Because: JSON that people write is not as deep; in what is deeper all is judged alike.
    private static let mostOpen = 64
    /// Because: `Proxy-Authorization` is the longest of them, and others put a prefix before it.
    private static let longestField = 64
}
