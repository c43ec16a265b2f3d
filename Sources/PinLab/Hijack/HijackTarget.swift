internal import HTTPDNSJSON
public import HTTPDNSNames

/// Somebody who can be asked for addresses.
public struct HijackSource: Sendable, Hashable {
    /// How it is asked.
    public enum Form: Sendable, Hashable {
        /// DNS over UDP, and TCP where an answer is cut.
        case datagram
        /// DNS over TCP.
        case stream
        /// DNS over HTTPS. Source: RFC 8484.
        case doh
        /// An HTTP-DNS service, by the name that the profiles have for it.
        case provider(String)
    }

    /// How it is asked.
    public let form: Form
    /// Where it is.
    public let address: IPAddress
    /// And on which port.
    public let port: Port
    /// The URL of what speaks HTTP; nil for DNS.
    public let url: String?
    /// The account of a provider.
    public let account: String?
    /// Its key, in the form of the provider's console.
    public let key: Secret?
    /// Whether a client can know that its answers are those of who was meant.
    public let isProven: Bool

    init(
        _ form: Form, _ address: IPAddress, _ port: Port, url: String? = nil,
        account: String? = nil, key: Secret? = nil, isProven: Bool = false
    ) {
        self.form = form
        self.address = address
        self.port = port
        self.url = url
        self.account = account
        self.key = key
        self.isProven = isProven
    }

    /// As `--resolver` takes it: `127.77.3.5:40123`, `tcp://…`, `https://…/dns-query`, or the provider's
    /// name, whose place is then told by `--endpoint`.
    public var text: String {
        let place = "\(address.uriText):\(port)"
        return switch form {
        case .datagram: place
        case .stream: "tcp://" + place
        case .doh: url ?? place
        case .provider(let name): name
        }
    }
}

/// All that a client, and who diagnoses, needs to know of a hijack.
public struct HijackTarget: Sendable, Hashable {
    /// `https://plain-poisoning.hijack.test:40123/`.
    public var url: String
    /// Whom the client means.
    public var host: String
    /// On which port.
    public var port: Port
    /// Whom clients trust, in PEM: origins and resolvers alike.
    public var authorityPEM: String
    /// Who answers on this network, most often a liar.
    public var resolvers: [HijackSource]
    /// Whose answers are proved: told to a client beside the others, or instead of them.
    public var trusted: [HijackSource]
    /// What the resolvers of the network say the name stands for: for clients that are told addresses.
    public var told: [IPAddress]
    /// Where nobody serves DNS, unless somebody intercepts what goes to that port.
    public var vacantDNS: HijackSource
    /// A port of the network's resolver where it answers, too, and nobody stands between; nil: it has
    /// none.
    public var otherPort: Port?
    /// A port of it where it does no DNS, and yet there is an answer; nil: nobody answers on any.
    public var vacantPort: Port?
    /// A URL that is answered with 204 where no portal stands between.
    public var probeURL: String
    /// The port of that URL: nobody else of the hijack is on it.
    public var probePort: Port
    /// What the origin says, and nobody else can.
    public var genuine: String
    /// What the others say.
    public var forged: String
}

extension HijackTarget {
    /// A configuration file of the tool `httpdns`: who is trusted, then the resolvers of the network.
    ///
    /// It holds the key of a service, so that none but its owner may read it.
    ///
    /// - Parameter authorityFile: Where ``authorityPEM`` was written.
    public func configuration(authorityFile: String) -> String {
        var names: [String] = []
        var list: [JSONValue] = []
        for source in trusted + resolvers where !names.contains(source.text) {
            names.append(source.text)
            list.append(source.configured(authorityFile))
        }
        return String(decoding: JSONWriter.octets(["resolvers": .array(list)]), as: UTF8.self)
            + "\n"
    }
}

extension HijackSource {
    fileprivate func configured(_ authorityFile: String) -> JSONValue {
        var object = JSONObject()
        guard case .provider(let name) = form, let url else {
            object["resolver"] = .string(text)
            if isProven { object["cacert"] = .string(authorityFile) }
            return .object(object)
        }
        object["resolver"] = .string(name)
        object["endpoint"] = .string(url)
        if let account { object["account"] = .string(account) }
        if let key { object["key"] = .string(key.revealed) }
        return .object(object)
    }
}

/// One request of a client.
public struct HijackStep: Sendable, Hashable {
    /// What is asked for.
    public let url: String
    /// Whom the client means.
    public let host: String
    /// Whom the client asks, in this order, and nobody else.
    public let resolvers: [HijackSource]
    /// Whether it is a client that knows nothing of the steps before.
    public let isNewClient: Bool
    /// What is right.
    public let expected: Expected
    /// What it shows, in a few words.
    public let aim: String

    /// What is right.
    public enum Expected: String, Sendable, Hashable, CaseIterable {
        /// The origin can be reached, and is.
        case genuine
        /// Nobody can prove to be the origin.
        case refused
    }
}
