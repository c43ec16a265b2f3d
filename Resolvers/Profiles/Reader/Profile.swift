package import HTTPDNSExchange
package import HTTPDNSNames
package import HTTPDNSWire

/// What is known of one provider: how to ask it and where its servers are. Data, never code.
///
/// Made by ``parse(file:text:)`` alone, so every profile has passed the check.
package struct Profile: Sendable, Hashable {
    /// The name it is asked for by, and its file's: `google`.
    package let id: String
    /// The name for people: `Google Public DNS`.
    package let title: String
    package let kind: Kind
    /// Whom to ask, with the path; the host is the name that the certificate must prove. Nil for
    /// plain DNS.
    package let url: HTTPURL?
    /// Where to connect: IPv4 first, in the file's order. Empty where the provider publishes none.
    package let bootstrap: [IPAddress]
    /// The name that the certificate of the same service over TLS (RFC 7858) must prove; nil when it
    /// has none.
    package let dotName: HostName?
    /// Where that service listens.
    package let dotPort: Port
    /// The protocol in data, for ``Kind/template``.
    package let template: ProviderTemplate?
    /// How many requests a second the provider takes, where that is known.
    package let queriesPerSecond: Int?
    /// What the provider's own servers want; another endpoint may do without.
    package let needs: [Credential]
    /// What they take but do not insist on.
    package let takes: [Credential]
    /// The types it can be asked for; nil means any.
    package let supportedTypes: Set<RecordType>?
    /// Where the facts come from.
    package let source: String
    /// Who gave the facts, where the source itself was not opened; else empty.
    package let sourceUnread: String
    /// The day on which the source was read: `2026-11-30`; empty when it was not.
    package let date: String
    package let notes: String

    /// The protocol it speaks; the raw value is the file's spelling.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// RFC 8484.
        case doh
        /// JSON over HTTPS, in Google's shape.
        case jsonDoH = "json-doh"
        /// Aliyun EMAS HTTPDNS, legacy form.
        case aliyun
        /// Aliyun EMAS HTTPDNS, second form: signed by HMAC, encrypted where there is a key.
        case aliyunV2 = "aliyun-v2"
        /// Tencent DNSPod HTTPDNS.
        case dnspod
        /// The same over http, names and answers encrypted: by DES, by AES.
        case dnspodDES = "dnspod-des"
        case dnspodAES = "dnspod-aes"
        /// Volcengine HTTPDNS.
        case volcengine
        /// Baidu Cloud HTTPDNS.
        case baidu
        /// Whatever the file's `template` says.
        case template
        /// DNS over TLS alone: no URL, a name and addresses.
        case dot
        /// Plain DNS on port 53, over TCP where an answer is too long.
        case udp
    }

    /// Kinds that answer for addresses only.
    package static let addressKinds: Set<Kind> = [
        .aliyun, .aliyunV2, .dnspod, .dnspodDES, .dnspodAES, .volcengine, .baidu,
    ]

    /// What the user must have from the provider.
    package enum Credential: String, Sendable, Hashable, CaseIterable {
        /// The account's number or name.
        case account
        /// Signs requests; never sent.
        case secret
        /// A token or key that is sent, or that encrypts.
        case key
    }

    /// The servers as DNS over TLS has them; empty when it has no such service.
    package var dotServers: [Endpoint] {
        dotName == nil ? [] : bootstrap.map { Endpoint(address: $0, port: dotPort) }
    }

    /// The servers as plain DNS has them: each bootstrap address at port 53.
    package var servers: [Endpoint] { bootstrap.map { Endpoint(address: $0, port: .dns) } }

    package init(_ parts: ProfileParts) {
        id = parts.id
        title = parts.title
        kind = parts.kind
        url = parts.url
        bootstrap = parts.bootstrap
        dotName = parts.dotName
        dotPort = parts.dotPort
        template = parts.template
        queriesPerSecond = parts.queriesPerSecond
        needs = parts.needs
        takes = parts.takes
        supportedTypes = parts.supportedTypes
        source = parts.source
        sourceUnread = parts.sourceUnread
        date = parts.date
        notes = parts.notes
    }
}

// DNS over TLS
extension Profile {
    /// What a service's id ends in when it is asked over TLS instead.
    static let dotSuffix = "-dot"

    /// Whom the certificate must prove; nil for plain DNS.
    package var provenHost: Host? { url?.origin.host ?? dotName.map { .name($0) } }

    /// The same service over TLS (RFC 7858), as a provider of its own: `google-dot`. Nil where it has
    /// none, or is one.
    package var overTLS: Profile? {
        guard kind != .dot, dotName != nil, !bootstrap.isEmpty else { return nil }
        return Profile(overTLS: self)
    }

    private init(overTLS profile: Profile) {
        id = profile.id + Profile.dotSuffix
        title = profile.title + ", over TLS"
        kind = .dot
        url = nil
        bootstrap = profile.bootstrap
        dotName = profile.dotName
        dotPort = profile.dotPort
        template = nil
        queriesPerSecond = profile.queriesPerSecond
        needs = profile.needs
        takes = profile.takes
        supportedTypes = profile.supportedTypes
        source = profile.source
        sourceUnread = profile.sourceUnread
        date = profile.date
        // What stands in the file is about the other protocol.
        notes = ""
    }
}

/// Why a profile's file is refused: which file, where in it, what is wrong, what to do.
package struct ProfileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// `google.json`.
    package let file: String
    /// `bootstrap.ipv4[0]`; empty for the file as a whole.
    package let keyPath: String
    package let what: String
    package let advice: String

    package var description: String {
        let place = keyPath.isEmpty ? file : file + ": " + keyPath
        return place + ": " + what + "; " + advice
    }
}
