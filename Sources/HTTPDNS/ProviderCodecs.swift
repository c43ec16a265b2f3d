internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSProfiles
internal import HTTPDNSTransport
internal import HTTPDNSVendor

/// The words of each HTTP-DNS provider, with what the user has from it.
enum ProviderCodecs {
    /// - Throws: ``QueryFailure/misconfigured(_:)``: what is missing, and how to give it.
    static func codec(
        _ profile: Profile, _ url: HTTPURL, _ description: ResolverDescription
    ) throws(QueryFailure) -> any HTTPDNSCodec {
        let base = url.target == "/" ? "" : url.target
        switch profile.kind {
        case .jsonDoH: return JSONDoHCodec(path: url.target, wirePath: "/dns-query")
        case .aliyun:
            return try AliyunCodec(
                base: base, account: try account(description), secret: description.secret)
        case .aliyunV2: return try aliyunV2(base, description)
        case .dnspod:
            return try DNSPodCodec(
                path: url.target, token: description.key ?? description.secret)
        case .dnspodDES:
            let key = try key(description)
            return try DNSPodCodec(
                path: url.target, access: .des(id: try account(description), key: key))
        case .dnspodAES:
            let key = try key(description)
            return try DNSPodCodec(
                path: url.target, access: .aes(id: try account(description), key: key))
        case .volcengine:
            return try VolcengineCodec(
                path: url.target, account: try account(description),
                secret: try secret(description))
        case .baidu:
            return try BaiduCodec(
                path: url.target, account: try account(description),
                secret: try secret(description))
        case .template: return try template(profile, base, description)
        case .doh, .dot, .udp: throw .unexpected("ProviderCodecs: \(profile.kind) has no codec")
        }
    }

    private static func account(
        _ description: ResolverDescription
    ) throws(QueryFailure) -> String {
        guard let account = description.account else {
            throw .misconfigured("it needs your account number (`account`, --account)")
        }
        return account
    }

    private static func secret(
        _ description: ResolverDescription
    ) throws(QueryFailure) -> Secret {
        guard let secret = description.secret else {
            throw .misconfigured(
                "it needs the secret that signs requests (`secret`, --secret-env)")
        }
        return secret
    }

    private static func key(_ description: ResolverDescription) throws(QueryFailure) -> Secret {
        guard let key = description.key ?? description.secret else {
            throw .misconfigured("it needs the key that encrypts names (`key`, --key-env)")
        }
        return key
    }

    private static func aliyunV2(
        _ base: String, _ description: ResolverDescription
    ) throws(QueryFailure) -> any HTTPDNSCodec {
        let mode: AliyunV2Codec.Mode =
            switch description.encryption {
            case nil: description.key == nil ? .plain : .gcm
            case .some(.none): .plain
            case .aesCBC: .cbc
            case .aesGCM: .gcm
            }
        return try AliyunV2Codec(
            base: base, account: try account(description), secret: description.secret,
            key: description.key, mode: mode)
    }

    private static func template(
        _ profile: Profile, _ base: String, _ description: ResolverDescription
    ) throws(QueryFailure) -> any HTTPDNSCodec {
        guard let template = profile.template else {
            throw .unexpected("ProviderCodecs: \(profile.id) has no template")
        }
        return try TemplateCodec(
            template, base: base,
            credentials: TemplateCodec.Credentials(
                account: description.account, secret: description.secret, key: description.key),
            types: profile.supportedTypes)
    }

    /// What holds the account to its limit; nil without one. A server of the user's own has no limit
    /// but the one the user sets.
    static func quota(_ description: ResolverDescription) -> QuotaGuard? {
        var limit = description.requestsPerSecond
        var name = description.description
        if case .provider(let profile) = description.kind {
            name = profile.id
            if description.endpoint == nil { limit = limit ?? profile.queriesPerSecond }
        }
        guard let limit else { return nil }
        let place = description.endpoint.map { " at \($0.origin)" } ?? ""
        return .shared(
            account: name + place + "/" + (description.account ?? ""), requestsPerSecond: limit)
    }

    /// The provider's own list of servers, where its user wants it; nil for the servers of the profile.
    static func servers(
        _ description: ResolverDescription, at url: HTTPURL, service: HTTPService,
        transport: Transport, report: @escaping @Sendable (String) -> Void
    ) throws(QueryFailure) -> (any ServerDirectory)? {
        guard let file = description.serverListFile else { return nil }
        let codec = try listCodec(description, at: url)
        var settings = ScheduledServers.Settings()
        settings.store = FileCursorStore(path: file)
        settings.report = { report("\(description): \($0)") }
        let servers = ScheduledServers(
            codec: codec, service: service, transport: transport, settings: settings)
        servers.start()
        return servers
    }

    private static func listCodec(
        _ description: ResolverDescription, at url: HTTPURL
    ) throws(QueryFailure) -> any ServerListCodec {
        guard case .provider(let profile) = description.kind else { throw noList }
        switch profile.kind {
        case .aliyun, .aliyunV2:
            return try AliyunScheduleCodec(
                base: url.target == "/" ? "" : url.target, account: try account(description),
                secret: description.secret)
        case .dnspod, .dnspodDES, .dnspodAES:
            guard let dnspod = try codec(profile, url, description) as? DNSPodCodec else {
                throw noList
            }
            return try DNSPodScheduleCodec(dnspod)
        default: throw noList
        }
    }

    private static var noList: QueryFailure {
        .misconfigured("only Aliyun and DNSPod hand out a list of servers: leave the file out")
    }
}
