public import HTTPDNSExchange
public import HTTPDNSNames

/// What a rule does with a request.
///
/// `setHeaders`, `removeHeaders`, `addCookies`, `map`, `addresses` and `record` change the request
/// and go on: the rules behind see what became of it. The others decide, and end the list.
public enum RuleAction: Sendable {
    /// To the system's loader, which resolves by itself and is not verified here.
    case pass(because: String)
    /// Through HTTPDNS, as without rules.
    case resolve
    /// Fails.
    case block(RuleError)
    /// Is answered here.
    case stub(Stub)
    /// Another origin is meant.
    case map(OriginMapping)
    /// Where to connect, without asking a resolver. The origin is as before: the peer must prove
    /// the same name.
    case addresses([IPAddress])
    /// Fields in the place of those of the same names.
    case setFields(HTTPFields)
    case removeFields([String])
    /// Sent with this request beside those that are kept, whose place they take where the names are
    /// equal.
    case addCookies([RuleCookie])
    /// Is answered by what is kept, or fails.
    case offline
    /// Keeps the exchange.
    case record(FixtureRecorder)
    /// Is answered by a recorded exchange.
    case replay(FixtureLibrary, otherwise: Unrecorded = .refuse)

    /// What becomes of a request that was not recorded.
    public enum Unrecorded: String, Sendable, Hashable, CaseIterable {
        /// It fails, with the nearest recorded ones in the error.
        case refuse
        /// The rules behind are asked.
        case goOn
    }

    /// Blocks without an error of its own.
    public static let block = RuleAction.block(.refused)

    /// Fields in the place of those of the same names.
    ///
    /// - Throws: ``RuleFault`` for a text that cannot stand in a field, and for fields that are not
    ///   a rule's to set: `Host` follows from the URL, and framing is the transport's.
    public static func setHeaders(
        _ headers: KeyValuePairs<String, String>
    ) throws(RuleFault) -> RuleAction {
        .setFields(try RuleFields.checked(headers.map { ($0.key, $0.value) }))
    }

    /// Leaves fields out, by their names. `Host` and the fields of the transport stay: they are not a
    /// rule's to remove. Without an `Accept-Encoding` the transport offers what it can decode: set it
    /// to `identity` for a body that is not coded.
    public static func removeHeaders(_ names: String...) -> RuleAction { .removeFields(names) }

    /// Sends cookies, by name and value.
    ///
    /// - Throws: ``RuleFault`` for what cannot stand in a `Cookie` field.
    public static func addCookies(
        _ cookies: KeyValuePairs<String, String>
    ) throws(RuleFault) -> RuleAction {
        var checked: [RuleCookie] = []
        for (name, value) in cookies { checked.append(try RuleCookie(name, value)) }
        return .addCookies(checked)
    }

    /// Answers with this.
    public static func stub(_ response: StubResponse) -> RuleAction { .stub(Stub(response)) }

    /// Answers with these, one after the other.
    public static func stub(
        _ responses: [StubResponse], after: Stub.AfterLast = .stay
    ) -> RuleAction {
        .stub(Stub(responses, after: after))
    }

    /// Nothing after it in its rule is done, at least where it applies.
    package var decides: Bool {
        switch self {
        case .pass, .resolve, .block, .offline: true
        case .stub(let stub): !stub.mayGoOn
        case .replay(_, let otherwise): otherwise == .refuse
        case .map, .addresses, .setFields, .removeFields, .addCookies, .record: false
        }
    }

    /// As files of rules call it.
    var word: String {
        switch self {
        case .pass: "pass"
        case .resolve: "resolve"
        case .block: "block"
        case .stub: "stub"
        case .map: "map"
        case .addresses: "addresses"
        case .setFields: "setHeaders"
        case .removeFields: "removeHeaders"
        case .addCookies: "addCookies"
        case .offline: "offline"
        case .record: "record"
        case .replay: "replay"
        }
    }

    /// The next request gets another answer.
    var isCounting: Bool {
        switch self {
        case .replay: true
        case .stub(let stub): stub.isCounting
        default: false
        }
    }

    var isStubbing: Bool {
        switch self {
        case .stub, .replay, .block: true
        default: false
        }
    }
}

/// A cookie that a rule sends.
public struct RuleCookie: Sendable, Hashable {
    public let name: String
    /// Not shown in any message.
    package let value: Secret

    /// - Throws: ``RuleFault`` for what cannot stand in a `Cookie` field. Source: RFC 6265 §4.1.1.
    public init(_ name: String, _ value: String) throws(RuleFault) {
        let isToken = HTTPMethod(name) != nil
        guard isToken else {
            throw RuleFault("\"\(RuleText.plain(name))\" is no name of a cookie")
        }
        let isValue = value.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && ![0x22, 0x2C, 0x3B, 0x5C].contains($0)
        }
        guard isValue else {
            throw RuleFault(
                "the value of the cookie \(name) holds a character that no cookie can: a blank, "
                    + "a quote, a comma, a semicolon, a backslash, or one that is not ASCII")
        }
        self.name = name
        self.value = Secret(value)
    }
}

/// The error of a request that a rule ends.
public enum RuleError: Sendable, CustomStringConvertible {
    /// Says that a rule refused it.
    case refused
    /// As if the network had failed so.
    case network(NetworkFault)
    /// The application's own; a `URLSession` hands it on unchanged.
    case own(any Error & Sendable)

    public var description: String {
        switch self {
        case .refused: "refused"
        case .network(let fault): fault.rawValue
        case .own(let error): "\(type(of: error))"
        }
    }
}

/// Which fields a rule may set.
package enum RuleFields {
    /// - Throws: ``RuleFault``.
    package static func checked(_ pairs: [(String, String)]) throws(RuleFault) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            let lower = name.lowercased()
            guard lower != "host" else {
                throw RuleFault(
                    "Host follows from the URL, and so does the name the certificate must prove: "
                        + "map the request to the host you mean, or give addresses for the one it has"
                )
            }
            guard !transportFields.contains(lower) else {
                throw RuleFault("\(name) is the transport's to write: leave it out")
            }
            do { try fields.append(name, value) } catch { throw RuleFault("\(error)") }
        }
        return fields
    }

    /// - Throws: ``RuleFault`` for what is no field, and for what is sent all the same.
    package static func checkRemovable(_ name: String) throws(RuleFault) {
        let lower = name.lowercased()
        guard lower != "host" else {
            throw RuleFault("Host follows from the URL, and is always sent: leave it out")
        }
        guard !transportFields.contains(lower) else {
            throw RuleFault("\(name) is the transport's to write, or to leave out")
        }
        guard lower != "accept-encoding" else {
            throw RuleFault(
                "without Accept-Encoding the transport offers what it can decode; set it to "
                    + "\"identity\" for a body that is not coded: "
                    + "{\"setHeaders\": {\"Accept-Encoding\": \"identity\"}}")
        }
        guard HTTPMethod(name) != nil else {
            throw RuleFault("\"\(RuleText.plain(name))\" is no name of a field")
        }
    }

    /// What is sent is not there yet when rules look.
    static func isAddedLater(_ name: String) -> Bool {
        let lower = name.lowercased()
        return transportFields.contains(lower) || addedLater.contains(lower)
    }

    /// `Authorization` where a URL has a name and a password, or a challenge was met.
    private static let addedLater: Set<String> = ["accept-encoding", "authorization", "cookie"]

    /// Source: RFC 9110 §7.6.1, §8.6, §10.1.1; §11.7.2 of the one for a proxy, which goes to no
    /// origin.
    private static let transportFields: Set<String> = [
        "connection", "content-length", "expect", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension RuleAction: CustomStringConvertible {
    /// What it does; values of fields and cookies are not shown.
    public var description: String {
        switch self {
        case .pass(let why): "pass to the system's loader (\(RuleText.plain(why)))"
        case .resolve: "resolve"
        case .block(let error): "block (\(error))"
        case .stub(let stub): "stub \(stub)"
        case .map(let mapping): "map to \(mapping)"
        case .addresses(let addresses):
            "connect to " + addresses.map(\.description).joined(separator: ", ")
        case .setFields(let fields):
            "set " + fields.fields.map(\.name).joined(separator: ", ")
        case .removeFields(let names):
            "remove " + names.map { RuleText.plain($0) }.joined(separator: ", ")
        case .addCookies(let cookies):
            "add the cookies " + cookies.map(\.name).joined(separator: ", ")
        case .offline: "offline"
        case .record(let recorder):
            "record into \(RuleText.plain(recorder.label))"
                + (recorder.maximumBodyOctets == FixtureRecorder.usualBodyOctets
                    ? "" : " (bodies of \(recorder.maximumBodyOctets) octets at most)")
        case .replay(let library, let otherwise):
            "replay \(RuleText.plain(library.label)) (\(library.fixtures.count) exchange"
                + (library.fixtures.count == 1 ? "" : "s")
                + (otherwise == .goOn ? ", others go on" : ", others are refused")
                + (library.leftOut.isEmpty
                    ? ")" : "; left out: \(library.leftOut.joined(separator: ", ")))")
        }
    }
}
