import HTTPDNSDiagnosis
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSTrust
import HTTPDNSWire

/// Evidence put together by hand: what a run on some network would have found.
///
/// Addresses are of TEST-NET, where the core does not look: they stand for public ones as
/// `198.18…` and the like do not. A number is the last octet of 8.8.9.x.
struct Scene {
    var evidence: Evidence
    static let now = WallTime(secondsSince1970: 1_780_000_000)

    let udp = EvidenceSource(
        label: "udp://9.9.8.1:53", standing: .nameserver, transport: .udp,
        server: Scene.endpoint("9.9.8.1"))
    let tcp = EvidenceSource(
        label: "tcp://9.9.8.1:53", standing: .nameserver, transport: .tcp,
        server: Scene.endpoint("9.9.8.1"))
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

    mutating func unreachable(_ address: String, _ connection: PeerEvidence.Connection = .timedOut)
    {
        evidence.peers.append(
            PeerEvidence(address: Scene.address(address), connection: connection))
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
        let zeros = [UInt8](repeating: 0, count: 32)
        return CertificateFacts(
            subject: subject, issuer: issuer, dnsNames: names.map { Array($0.utf8) },
            ipAddresses: [], notBefore: now, notAfter: now,
            pin: Pin(sha256: zeros)!,
            fingerprint: [print])
    }

    mutating func fetches(
        _ purpose: FetchEvidence.Purpose, _ page: FetchEvidence.Page,
        url: String = "http://probe.example/"
    ) {
        evidence.fetches.append(
            FetchEvidence(purpose: purpose, address: nil, url: url, result: .success(page)))
    }

    static func name(_ text: String) -> HostName { try! HostName(text) }
    static func address(_ text: String) -> IPAddress { try! IPAddress(text) }
    static func endpoint(_ text: String) -> Endpoint {
        Endpoint(address: address(text), port: .dns)
    }
}
