import HTTPDNSDatagram
import HTTPDNSDiagnosis
import HTTPDNSEvidence
import HTTPDNSExchange
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport
import Testing

/// Runs against real servers on loopback: what is gathered, and what it comes to.
@Suite(.timeLimit(.minutes(3))) struct RunTests {
    @Test func `an honest network is clean, and every source was asked both ways`() async throws {
        let lab = try DiagnosisLab()
        let told = Locked<[String]>([])
        let note: @Sendable (DiagnosisEvent) -> Void = { event in
            let word =
                switch event {
                case .started: "started"
                case .answered: "answered"
                case .met: "met"
                case .judged: "judged"
                default: "other"
                }
            told.withLock { $0.append(word) }
        }
        let diagnosis = try await lab.diagnosed({ $0.keepsRaw = true }, onEvent: note)
        #expect(diagnosis.verdict == .clean)
        let transports = diagnosis.evidence.sources.map(\.transport)
        #expect(transports == [.udp, .tcp, .udp])
        let answers = diagnosis.evidence.answers
        #expect(answers.map(\.type) == [.a, .aaaa, .a, .aaaa, .a, .aaaa])
        #expect(answers.first?.statement?.addresses == [DiagnosisLab.right])
        #expect(answers.first?.statement?.ttlSeconds == 60)
        #expect(answers.prefix(4).allSatisfy { $0.raw?.octets.isEmpty == false })
        let words = told.withLock { $0 }
        #expect(words.first == "started")
        #expect(words.last == "judged")
        #expect(words.filter { $0 == "answered" }.count == 6)
        #expect(words.filter { $0 == "met" }.count == 1)
    }

    @Test func `sources that cannot be asked are told apart, also from a name server`() async throws
    {
        let lab = try DiagnosisLab()
        let label = "udp://\(lab.network.endpoint)"
        let failure = QueryFailure.misconfigured("it cannot be built")
        let diagnosis = try await lab.diagnosed {
            $0.unusable = [(label: label, failure: failure), (label: label, failure: failure)]
        }
        let sources = diagnosis.evidence.sources
        #expect(Set(sources.map(\.label)).count == sources.count)
        #expect(sources.filter { $0.label == label }.map(\.standing) == [.nameserver])
        let unusable = sources.filter { $0.label.hasPrefix(label + " (") }
        #expect(unusable.map(\.standing) == [.trusted, .trusted])
        for source in unusable {
            let answers = diagnosis.evidence.answers.filter { $0.source == source }
            #expect(answers.map(\.type) == [.a, .aaaa])
            #expect(answers.allSatisfy { $0.statement == nil })
        }
        #expect(diagnosis.verdict == .clean)
    }

    @Test func `what is known of routes and of translation is told as it is found, with its time`()
        async throws
    {
        let lab = try DiagnosisLab { question, truth in
            guard question.text == "ipv4only.arpa", question.type == .aaaa,
                let address = try? IPAddress("64:ff9b::c000:aa")
            else { return truth }
            return question.answer([address])
        }
        let told = Locked<(routes: [RouteEvidence], translations: [TranslationEvidence])>(([], []))
        let diagnosis = try await lab.diagnosed(
            {
                $0.findsTranslators = true
                $0.keepsRaw = true
            },
            onEvent: { event in
                told.withLock { told in
                    if case .routed(let routes) = event { told.routes.append(routes) }
                    if case .translated(let found) = event { told.translations.append(found) }
                }
            })
        let network = diagnosis.evidence.network
        #expect(told.withLock { $0.routes } == [try #require(network.routes)])
        let translation = try #require(network.translation)
        #expect(told.withLock { $0.translations } == [translation])
        #expect(translation.prefixes.map(\.description) == ["64:ff9b::/96"])
        #expect(translation.resolver == "udp://\(lab.network.endpoint)")
        #expect(translation.raw?.octets.isEmpty == false)
        #expect(translation.seen.atMilliseconds >= translation.seen.tookMilliseconds)
        #expect(diagnosis.judgement.notes.contains { $0.code == "nat64" })
    }

    @Test func `no request is sent where only handshakes are asked for`() async throws {
        let lab = try DiagnosisLab()
        _ = try await lab.diagnosed()
        #expect(lab.origin.awaitConnectionsEnded())
        #expect(lab.origin.record.handshakes.count == 1)
        #expect(lab.origin.record.requests.isEmpty)
    }

    @Test func `an address of a stranger is told from the origin's by TLS`() async throws {
        let lab = try DiagnosisLab { question, truth in
            question.text == DiagnosisLab.host
                ? question.answer([DiagnosisLab.wrong]) : truth
        }
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.how == .rewritten)
        let standings = diagnosis.judgement.addresses.map(\.standing)
        #expect(Set(standings) == [.impostor, .proven])
        let peer = diagnosis.evidence.peers.first { $0.address == DiagnosisLab.wrong }
        // Without the name and with another one it is asked only because it failed.
        #expect(peer?.withoutName != nil)
        #expect(peer?.otherName != nil)
        #expect(
            diagnosis.evidence.peers.first { $0.address == DiagnosisLab.right }?.withoutName == nil)
    }

    @Test func `a second answer to one query is heard after the first`() async throws {
        let lab = try DiagnosisLab()
        try lab.network.behave(.forges([DiagnosisLab.wrong], aheadMilliseconds: 50))
        let diagnosis = try await lab.diagnosed { $0.listening = .seconds(2) }
        #expect(diagnosis.how == .forged)
        let race = try #require(diagnosis.evidence.races.first { $0.type == .a })
        #expect(race.first.addresses == [DiagnosisLab.wrong])
        #expect(race.second.addresses == [DiagnosisLab.right])
    }

    @Test func `the same answer twice is no race`() async throws {
        let lab = try DiagnosisLab()
        try lab.network.behave(.duplicates)
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.evidence.races.isEmpty)
        #expect(diagnosis.verdict == .clean)
    }

    @Test func `names made up are put to every source alike, at three lengths, in two places`()
        async throws
    {
        let lab = try DiagnosisLab { question, truth in
            truth.code == .noSuchName ? question.answer([DiagnosisLab.wrong]) : truth
        }
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.how == .rewritten)
        let probes = diagnosis.evidence.randomNames
        #expect(probes.count == 18)
        #expect(Set(probes.map(\.answer.name)).count == 6)
        #expect(Set(probes.map { $0.answer.name.labels[0].count }).count == 3)
        #expect(Set(probes.map(\.parent)) == [.name, .publicSuffix])
    }

    @Test func `a wildcard zone is told from a rewriter by the trusted source`() async throws {
        let lab = try DiagnosisLab { question, truth in
            question.text.hasSuffix("." + DiagnosisLab.host)
                ? question.answer([DiagnosisLab.right]) : truth
        }
        let wild = try LabDNSServer { question in
            question.text.hasSuffix(DiagnosisLab.host)
                ? question.answer([DiagnosisLab.right]) : question.noSuchName()
        }
        try wild.start()
        defer { wild.stop() }
        let server = try Endpoint(text: wild.endpoint)
        let diagnosis = try await lab.diagnosed {
            $0.trusted = [DatagramBackend(servers: [server])]
        }
        #expect(diagnosis.verdict == .clean)
        #expect(diagnosis.judgement.notes.contains { $0.code == "wildcard_zone" })
    }

    @Test func `an answer from a dark address is an interception, silence is none`() async throws {
        let lab = try DiagnosisLab()
        let answering = try Endpoint(text: lab.network.endpoint)
        let caught = try await lab.diagnosed { $0.darkAddress = answering }
        #expect(caught.how == .intercepted)
        let dead = try closedEndpoint()
        let quiet = try await lab.diagnosed { $0.darkAddress = dead }
        #expect(quiet.verdict == .clean)
        #expect(quiet.evidence.dark?.statement == nil)
        #expect(quiet.evidence.dark?.address == dead)
    }

    @Test func `whom a service sees asking is told once for each source, by address and by text`()
        async throws
    {
        let lab = try DiagnosisLab { question, truth in
            question.text == "whoami.test" && question.type == .a
                ? question.answer([DiagnosisLab.wrong]) : truth
        }
        let diagnosis = try await lab.diagnosed {
            $0.whoami = try HostName("whoami.test")
            $0.keepsRaw = true
        }
        let identities = diagnosis.evidence.identities
        #expect(identities.map(\.source.standing) == [.nameserver, .trusted])
        #expect(identities.map(\.texts) == [["\(DiagnosisLab.wrong)"], []])
        #expect(identities.map(\.raw.count) == [2, 2])
    }

    @Test func `a hosts file that misleads is named`() async throws {
        let lab = try DiagnosisLab()
        let directory = try TemporaryDirectory()
        let file = try directory.write("hosts", "127.0.0.66 www.shop.test\n")
        let diagnosis = try await lab.diagnosed { $0.hostsFile = file }
        guard case .dnsHijacked(let source, _) = diagnosis.verdict else {
            Issue.record("\(diagnosis.verdict)")
            return
        }
        #expect(source.standing == .hosts)
    }

    @Test func `the site's own certificate without the name gives an interceptor away`()
        async throws
    {
        let foreign = try TestAuthority("Stranger Root").leaf(["www.shop.test"])
        let lab = try DiagnosisLab(security: { authority in
            .tls(
                try authority.leaf(["www.shop.test"]), byName: [DiagnosisLab.host: foreign])
        })
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.verdict == .tlsIntercepted)
        #expect(diagnosis.judgement.confidence == .certain)
    }

    @Test(arguments: [
        LabConnectionFault.resetsInHandshake, .closesInHandshake,
    ])
    func `handshakes that are always cut mean a blocked address`(
        fault: LabConnectionFault
    ) async throws {
        let lab = try DiagnosisLab(fault: fault)
        let diagnosis = try await lab.diagnosed()
        #expect(diagnosis.verdict == .addressBlocked)
        let cut: Handshake = fault == .resetsInHandshake ? .cut(.reset) : .cut(.closed)
        #expect(diagnosis.evidence.peers.first?.real == cut)
    }

    @Test func `a certificate that has ended everywhere is the origin's`() async throws {
        let lab = try DiagnosisLab(security: { authority in
            .tls(try authority.leaf(["www.shop.test"], validity: .expired))
        })
        #expect(try await lab.diagnosed().verdict == .originBroken)
    }

    @Test func `a clock that is a year behind is found out`() async throws {
        let lab = try DiagnosisLab()
        let now = SystemWallClock().now().secondsSince1970
        let behind = try await lab.diagnosed {
            $0.moment = WallTime(secondsSince1970: now - 31_536_000)
        }
        #expect(behind.verdict == .inconclusive(missing: [.rightClock]))
    }

    @Test func `a portal in front of everything is found by its answer to the probe`()
        async throws
    {
        let lab = try DiagnosisLab { question, _ in question.answer([DiagnosisLab.wrong]) }
        let portal = try LabServer(address: LabAddress.ipv4(host: 67)) { _ in
            .redirect(to: "http://portal.test/login")
        }
        try portal.start()
        defer { portal.stop() }
        let dead = try closedEndpoint()
        let url = try HTTPURL(portal.url(host: "127.0.0.67", path: "/generate_204"))
        let diagnosis = try await lab.diagnosed {
            $0.probe = url
            $0.trusted = [DatagramBackend(servers: [dead])]
        }
        #expect(diagnosis.verdict == .captivePortal)
        #expect(portal.record.requests.map(\.path) == ["/generate_204"])
    }

    @Test func `pages in clear and over TLS are asked for once each`() async throws {
        let lab = try DiagnosisLab()
        let clear = try LabServer(address: DiagnosisLab.right) { _ in .text("another page") }
        try clear.start()
        defer { clear.stop() }
        let diagnosis = try await lab.diagnosed {
            $0.fetches = true
            $0.plainPort = clear.port
        }
        #expect(diagnosis.verdict == .clean)
        #expect(diagnosis.judgement.notes.contains { $0.code == "content_differs" })
        #expect(clear.record.requests.map(\.host) == ["www.shop.test:\(clear.port)"])
        #expect(lab.origin.record.requests.map(\.method) == ["GET"])
    }
}
