import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire

/// Evidence put together by hand: what a run on some network would have found.
///
/// Its addresses are public ones, since what an address is by itself counts; nothing is sent to them.
struct Scene {
    var evidence: Evidence
    static let now = WallTime(secondsSince1970: 1_780_000_000)

    let udp = EvidenceSource(
        label: "udp://9.9.8.1:53", standing: .nameserver, transport: .udp,
        server: Scene.endpoint("9.9.8.1"))
    let tcp = EvidenceSource(
        label: "tcp://9.9.8.1:53", standing: .nameserver, transport: .tcp,
        server: Scene.endpoint("9.9.8.1"))
    /// Another port of the same server; not among ``Evidence/sources``.
    let other = EvidenceSource(
        label: "udp://9.9.8.1:5353", standing: .nameserver, transport: .udp,
        server: Endpoint(address: Scene.address("9.9.8.1"), port: Port(5_353) ?? .dns),
        alternateOf: Scene.endpoint("9.9.8.1"))
    let system = EvidenceSource(label: "system", standing: .system, transport: .system)
    let hosts = EvidenceSource(label: "hosts file", standing: .hosts, transport: .hosts)
    let resolver = EvidenceSource(
        label: "udp://9.9.8.2:53", standing: .resolver, transport: .udp)
    let doh = EvidenceSource(
        label: "https://dns.example/dns-query", standing: .trusted, transport: .https)

    init(_ name: String = "www.shop.com") {
        evidence = Evidence(name: Scene.name(name), now: Scene.now)
        evidence.registrableDomain = Scene.name("shop.com")
        evidence.sources = [hosts, system, udp, tcp, doh]
    }

    var judgement: Judgement { Judgement(of: evidence) }
    var verdict: Verdict { judgement.verdict }

    // MARK: Answers

    mutating func says(
        _ source: EvidenceSource, _ addresses: String..., type: RecordType = .a, ttl: UInt32 = 60,
        ede: [UInt16] = []
    ) {
        add(
            source, type,
            .success(
                Statement(
                    addresses: addresses.map(Scene.address), ttlSeconds: ttl,
                    extendedErrors: ede.map { ExtendedError(code: $0) })))
    }

    mutating func denies(
        _ source: EvidenceSource, _ code: ResponseCode = .noSuchName, type: RecordType = .a,
        ede: [UInt16] = []
    ) {
        add(
            source, type,
            .success(
                Statement(code: code, extendedErrors: ede.map { ExtendedError(code: $0) })))
    }

    mutating func fails(
        _ source: EvidenceSource, _ failure: QueryFailure = .timedOut(tries: 2),
        type: RecordType = .a
    ) { add(source, type, .failure(failure)) }

    private mutating func add(
        _ source: EvidenceSource, _ type: RecordType, _ result: Result<Statement, QueryFailure>
    ) {
        evidence.answers.append(
            AnswerEvidence(source: source, name: evidence.name, type: type, result: result))
    }

    /// All of this network say the same.
    mutating func networkSays(_ addresses: String..., type: RecordType = .a) {
        for source in [system, udp, tcp] {
            add(
                source, type,
                .success(Statement(addresses: addresses.map(Scene.address), ttlSeconds: 60)))
        }
    }

    mutating func races(
        _ source: EvidenceSource, _ first: String, _ second: String, type: RecordType = .a
    ) {
        evidence.races.append(
            RaceEvidence(
                source: source, type: type,
                first: Statement(addresses: [Scene.address(first)]),
                second: Statement(addresses: [Scene.address(second)]), millisecondsApart: 12))
    }

    mutating func random(
        _ source: EvidenceSource, _ parent: RandomNameEvidence.Parent, _ label: String,
        _ addresses: String...
    ) {
        let name = Scene.name(label + (parent == .name ? ".www.shop.com" : ".com"))
        let statement =
            addresses.isEmpty
            ? Statement(code: .noSuchName) : Statement(addresses: addresses.map(Scene.address))
        evidence.randomNames.append(
            RandomNameEvidence(
                parent: parent,
                answer: AnswerEvidence(
                    source: source, name: name, type: .a, result: .success(statement))))
    }

    /// A way to all IPv4 addresses, or to none at all.
    mutating func hasRoute(_ hasIPv4: Bool) {
        evidence.network.routes = RouteEvidence(hasIPv4: hasIPv4, hasIPv6: false)
    }

    // MARK: Peers

    mutating func proves(_ address: String) {
        evidence.peers.append(
            PeerEvidence(
                address: Scene.address(address), connection: .connected,
                real: .proven(chain: [Scene.certificate()], version: "TLSv1.3")))
    }

    mutating func refuses(
        _ address: String, _ code: TrustFailure.Code, names: [String] = ["www.shop.com"],
        issuer: String = "CN=Some Root", subject: String = "CN=leaf"
    ) {
        evidence.peers.append(
            PeerEvidence(
                address: Scene.address(address), connection: .connected,
                real: Scene.untrusted(code, names, issuer, subject)))
    }

    /// - Parameter other: what another port of it does.
    mutating func unreachable(
        _ address: String, _ connection: PeerEvidence.Connection = .timedOut,
        other: PeerEvidence.Connection? = nil
    ) {
        var peer = PeerEvidence(address: Scene.address(address), connection: connection)
        peer.otherPort = other.map { PeerEvidence.OtherPort(port: .http, connection: $0) }
        evidence.peers.append(peer)
    }

    mutating func cuts(
        _ address: String, _ real: Handshake, without: Handshake? = nil, other: Handshake? = nil
    ) {
        evidence.peers.append(
            PeerEvidence(
                address: Scene.address(address), connection: .connected, real: real,
                withoutName: without, otherName: other))
    }

    static func untrusted(
        _ code: TrustFailure.Code, _ names: [String], _ issuer: String = "CN=Some Root",
        _ subject: String = "CN=leaf", host: String = "www.shop.com", print: UInt8 = 1
    ) -> Handshake {
        var facts = TrustFailure.Facts(host: .name(name(host)))
        facts.chain = [certificate(names, issuer, subject, print: print)]
        return .untrusted(TrustFailure(code: code, facts: facts))
    }

    static func certificate(
        _ names: [String] = ["www.shop.com"], _ issuer: String = "CN=Public Root",
        _ subject: String = "CN=leaf", print: UInt8 = 1
    ) -> CertificateFacts {
        CertificateFacts(
            subject: subject, issuer: issuer, dnsNames: names.map { Array($0.utf8) },
            ipAddresses: [], notBefore: now, notAfter: now,
            pin: pin,
            fingerprint: [print])
    }

    mutating func fetches(
        _ purpose: FetchEvidence.Purpose, _ page: FetchEvidence.Page,
        url: String = "http://probe.example/"
    ) {
        evidence.fetches.append(
            FetchEvidence(purpose: purpose, address: nil, url: url, result: .success(page)))
    }

    /// A source, or somebody, says that this machine's clock is so many seconds ahead.
    mutating func tells(_ source: EvidenceSource, ahead seconds: Int64, isProven: Bool) {
        let time = WallTime(secondsSince1970: Scene.now.secondsSince1970 - seconds)
        evidence.times.append(
            TimeEvidence(
                teller: source.label, form: .dateField, isProven: isProven, time: time,
                now: Scene.now))
    }

    static func name(_ text: String) -> HostName {
        guard let name = try? HostName(text) else { preconditionFailure("no name: \(text)") }
        return name
    }

    static func address(_ text: String) -> IPAddress {
        guard let address = try? IPAddress(text) else {
            preconditionFailure("no address: \(text)")
        }
        return address
    }

    static func endpoint(_ text: String) -> Endpoint {
        Endpoint(address: address(text), port: .dns)
    }

    private static let pin: Pin = {
        guard let pin = Pin(sha256: [UInt8](repeating: 0, count: 32)) else {
            preconditionFailure("32 octets are a pin")
        }
        return pin
    }()
}
