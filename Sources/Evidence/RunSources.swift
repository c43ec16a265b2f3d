internal import HTTPDNSDatagram
internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSPublicSuffix
internal import HTTPDNSSystem
internal import HTTPDNSTransport
internal import HTTPDNSWire

/// Whom a run asks: the sources in the order of the report, and the job of each.
struct RunSources {
    let nameservers: [Endpoint]
    private(set) var all: [EvidenceSource] = []
    private var makers: [@Sendable (RunFrame) -> [@Sendable () async -> Void]] = []

    init(_ options: DiagnosisOptions) {
        nameservers = options.nameservers ?? RunSources.configured()
        if let path = options.hostsFile { addHosts(path) }
        if options.asksSystem { addSystem() }
        for server in nameservers { add(server) }
        // Behind them: one that is named itself is no other port of another.
        for server in nameservers {
            if let port = options.otherPort, port != server.port {
                add(Endpoint(address: server.address, port: port), of: server, isDeclared: true)
            }
            for other in KnownPorts.besides(server) { add(other, of: server, isDeclared: false) }
            guard options.asksVacantPorts, let place = vacantPort(of: server, options) else {
                continue
            }
            makers.append { [BesidesJobs.vacant($0, place, of: server)] }
        }
        for backend in options.resolvers { add(backend, .resolver) }
        for backend in options.trusted { add(backend, .trusted) }
        for (label, failure) in options.unusable { add(label, failure) }
    }

    func jobs(_ frame: RunFrame) -> [@Sendable () async -> Void] {
        makers.flatMap { $0(frame) }
    }

    /// Those of resolv.conf; none where there is no such file: this machine then asks itself, and so
    /// does ``SystemBackend``.
    private static func configured() -> [Endpoint] {
        guard let octets = SmallFile.read("/etc/resolv.conf", atMost: 65_536) else { return [] }
        return ResolvConf(parsing: String(decoding: octets, as: UTF8.self)).servers
    }

    private mutating func append(
        _ source: EvidenceSource,
        _ maker: @escaping @Sendable (RunFrame) -> [@Sendable () async -> Void]
    ) {
        guard !all.contains(where: { $0.label == source.label }) else { return }
        all.append(source)
        makers.append(maker)
    }

    private mutating func addHosts(_ path: String) {
        let source = EvidenceSource(label: "hosts file", standing: .hosts, transport: .hosts)
        append(source) { frame in
            [{ SourceAsking(frame: frame, source: source).read(hostsFile: path) }]
        }
    }

    private mutating func addSystem() {
        let source = EvidenceSource(label: "system", standing: .system, transport: .system)
        append(source) { frame in
            [
                {
                    // Each question holds one of the few threads that wait for the C library.
                    await SourceAsking(frame: frame, source: source).ask(
                        SystemBackend(), randomNames: 1)
                }
            ]
        }
    }

    private mutating func add(_ server: Endpoint) {
        let udp = EvidenceSource(
            label: "udp://" + server.dnsServerText, standing: .nameserver, transport: .udp,
            server: server)
        append(udp) { frame in
            let asking = SourceAsking(frame: frame, source: udp)
            return [{ await RunFrame.offPool { asking.askDatagrams(server) } }]
        }
        let tcp = EvidenceSource(
            label: "tcp://" + server.dnsServerText, standing: .nameserver, transport: .tcp,
            server: server)
        append(tcp) { frame in
            let asking = SourceAsking(frame: frame, source: tcp)
            return [{ await RunFrame.offPool { asking.askStreams(server) } }]
        }
    }

    /// Another port of a server: what is said there is compared with what is said on its own.
    ///
    /// - Parameter isDeclared: somebody said that DNS is done there, so that its silence is one.
    private mutating func add(_ other: Endpoint, of server: Endpoint, isDeclared: Bool) {
        let source = EvidenceSource(
            label: "udp://" + other.dnsServerText, standing: .nameserver, transport: .udp,
            server: other, alternateOf: server)
        append(source) { frame in
            let asking = SourceAsking(frame: frame, source: source)
            let end = isDeclared ? nil : frame.vacantEnd
            return [{ await RunFrame.offPool { asking.askDatagrams(other, by: end) } }]
        }
    }

    /// One that is not known to do DNS.
    private func vacantPort(of server: Endpoint, _ options: DiagnosisOptions) -> Endpoint? {
        let taken = nameservers.filter { $0.address == server.address }.map(\.port)
        let port = options.vacantPort ?? Port(UInt16.random(in: RunSources.vacantPorts))
        guard let port, !taken.contains(port), port != options.otherPort else { return nil }
        return Endpoint(address: server.address, port: port)
    }

    /// Source: RFC 6335 §6: no service is registered from 49152 on; ip(7): Linux gives sockets ports up
    /// to 60999 by itself.
    private static let vacantPorts: ClosedRange<UInt16> = 61_000...65_535

    private mutating func add(
        _ backend: any ResolverBackend, _ standing: EvidenceSource.Standing
    ) {
        let source = EvidenceSource(
            label: distinct(backend.label, standing),
            standing: standing, transport: RunSources.transport(of: backend.label),
            server: RunSources.server(of: backend.label))
        guard standing != .trusted || backend.isAuthenticated || backend.isLocal else {
            add(
                backend.label,
                .misconfigured("nothing proves who answers, so that it cannot be trusted"))
            return
        }
        append(source) { frame in
            [{ await SourceAsking(frame: frame, source: source).ask(backend) }]
        }
    }

    /// A name server may be trusted, too, and is then both; and two servers may differ in a part of
    /// their URLs that is not shown.
    private func distinct(_ label: String, _ standing: EvidenceSource.Standing) -> String {
        let isKnown = { (label: String) in all.contains { $0.label == label } }
        guard isKnown(label) else { return label }
        let named = "\(label) (\(standing.rawValue))"
        var shown = named
        var number = 2
        while isKnown(shown) {
            shown = "\(named) \(number)"
            number += 1
        }
        return shown
    }

    /// A trusted source that cannot be asked.
    private mutating func add(_ label: String, _ failure: QueryFailure) {
        let source = EvidenceSource(
            label: distinct(label, .trusted), standing: .trusted,
            transport: RunSources.transport(of: label))
        append(source) { frame in
            [
                {
                    for type in [RecordType.a, .aaaa] {
                        frame.tell(
                            .answer(
                                AnswerEvidence(
                                    source: source, name: frame.name, type: type,
                                    result: .failure(failure))))
                    }
                }
            ]
        }
    }

    /// By what a back-end calls itself.
    private static func transport(of label: String) -> AnswerTransport {
        let schemes: [(String, AnswerTransport)] = [
            ("https://", .https), ("json+https://", .https), ("tls://", .tls), ("udp://", .udp),
            ("tcp://", .tcp),
        ]
        if label == "system" { return .system }
        return schemes.first { label.hasPrefix($0.0) }?.1 ?? .httpdns
    }

    /// The server, where its label names one address.
    private static func server(of label: String) -> Endpoint? {
        guard let slashes = label.firstRange(of: "://") else { return nil }
        let authority = label[slashes.upperBound...].prefix { !"/?#,".contains($0) }
        let host: Substring
        let port: Substring?
        if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<close]
            let rest = authority[authority.index(after: close)...]
            port = rest.hasPrefix(":") ? rest.dropFirst() : nil
        } else {
            let colon = authority.firstIndex(of: ":")
            host = authority[..<(colon ?? authority.endIndex)]
            port = colon.map { authority[authority.index(after: $0)...] }
        }
        guard let address = try? IPAddress(String(host)) else { return nil }
        return Endpoint(address: address, port: port.flatMap { Port($0) } ?? .dns)
    }
}

/// Names that nobody has.
enum RandomNames {
    /// Letters alone, of three lengths, since a rewriter may look at the length: under the name, and
    /// under the public suffix.
    ///
    /// Because: three lengths tell a filter for typing errors from one for everything.
    private static let lengths = [15, 7, 31]

    static func make(
        for name: HostName
    ) -> [(parent: RandomNameEvidence.Parent, name: HostName)] {
        let parents: [(RandomNameEvidence.Parent, String)] = [
            (.publicSuffix, RandomNames.suffix(of: name)), (.name, name.text),
        ]
        return parents.flatMap { kind, parent in
            lengths.compactMap { length -> (parent: RandomNameEvidence.Parent, name: HostName)? in
                let name = try? HostName(label(length) + "." + parent)
                return name.map { (kind, $0) }
            }
        }
    }

    /// The suffix of a registry; where no list says, the last label. A company's suffix (`github.io`)
    /// may well answer for every name.
    private static func suffix(of name: HostName) -> String {
        PublicSuffix.registrySuffix(of: name)?.text ?? name.labels.last.map { String($0) }
            ?? name.text
    }

    private static func label(_ length: Int) -> String {
        String((0..<length).map { _ in Character(letters.randomElement() ?? "x") })
    }

    private static let letters = (0x61...0x7A).compactMap { Unicode.Scalar($0) }
}

/// One transport for all runs of the process.
enum SharedTransport {
    static let transport = Transport()
}
