internal import HTTPDNSDatagram
internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSSystem
internal import HTTPDNSWire

/// The jobs of a run that are not about one source.
enum BesidesJobs {
    typealias Job = @Sendable () async -> Void

    /// What the kernel says of routes.
    static func network(_ frame: RunFrame) -> Job {
        {
            await RunFrame.offPool {
                let begun = SystemMonotonicClock().now()
                // Where the kernel does not say, the rest of the evidence must.
                guard let facts = NetworkMonitor.facts() else { return }
                frame.tell(
                    .routes(
                        RouteEvidence(
                            hasIPv4: facts.defaultRoutes.contains { $0.family == .ipv4 },
                            hasIPv6: facts.defaultRoutes.contains { $0.family == .ipv6 },
                            seen: frame.sighting(since: begun))))
            }
        }
    }

    /// A query to where nobody is.
    static func dark(_ frame: RunFrame, _ address: Endpoint) -> Job {
        {
            await RunFrame.offPool {
                guard let heard = listen(at: address, frame, by: frame.answersEnd) else { return }
                frame.tell(
                    .dark(
                        DarkEvidence(
                            address: address, statement: heard.statement, seen: heard.seen,
                            raw: heard.raw)))
            }
        }
    }

    /// The same question to a port of a name server where it does no DNS.
    static func vacant(_ frame: RunFrame, _ place: Endpoint, of server: Endpoint) -> Job {
        {
            await RunFrame.offPool {
                guard let heard = listen(at: place, frame, by: frame.vacantEnd) else { return }
                frame.tell(
                    .vacant(
                        VacantPortEvidence(
                            server: server, place: place, statement: heard.statement,
                            seen: heard.seen, raw: heard.raw)))
            }
        }
    }

    /// What comes from where nothing should.
    private struct Heard {
        var statement: Statement?
        var raw: RawReply?
        var seen = Sighting.atOnce
    }

    /// Asks for the name. Whatever is said, that something is said is what counts. Blocks.
    private static func listen(
        at place: Endpoint, _ frame: RunFrame, by end: Monotonic
    ) -> Heard? {
        guard let question = PlainQuestion(frame.name, .a) else { return nil }
        let begun = SystemMonotonicClock().now()
        var heard = Heard()
        DatagramAsking(
            server: place, questions: [question], listeningMilliseconds: 0, deadline: end
        ).run { _, reply in
            switch reply {
            case .first(let octets):
                let statement = try? question.statement(
                    octets, about: frame.name, from: "udp://\(place)"
                ).get()
                heard.statement = statement ?? Statement(code: .serverFailure)
                if frame.options.keepsRaw { heard.raw = RawReply(.dnsMessage, octets) }
            case .failed(let word): frame.tell(.shortage(word))
            case .further, .silent: break
            }
        }
        heard.seen = frame.sighting(since: begun)
        return heard
    }

    /// How the network translates IPv4. Source: RFC 7050 §3.
    static func translators(_ frame: RunFrame) -> Job {
        {
            guard let name = try? HostName(NAT64.discoveryName) else { return }
            let servers = frame.options.nameservers
            let backend: any ResolverBackend =
                servers.flatMap { $0.isEmpty ? nil : DatagramBackend(servers: $0) }
                ?? SystemBackend()
            let begun = SystemMonotonicClock().now()
            let received = Locked<RawReply?>(nil)
            let result: Result<Statement, QueryFailure>
            do throws(QueryFailure) {
                let said = try await backend.askTelling(
                    Question(name: name, type: .aaaa), deadline: frame.answersEnd
                ) { reply in
                    if frame.options.keepsRaw { received.withLock { $0 = reply.raw } }
                }
                result = .success(Statement(said))
            } catch { result = .failure(error) }
            let addresses = (try? result.get())?.addresses ?? []
            frame.tell(
                .translation(
                    TranslationEvidence(
                        resolver: backend.label, result: result,
                        prefixes: NAT64.prefixes(in: addresses),
                        seen: frame.sighting(since: begun), raw: received.withLock { $0 })))
        }
    }

    /// Where the probe goes: what any program here would find.
    static func addresses(of host: Host, _ frame: RunFrame) async -> [IPAddress] {
        guard case .name(let name) = host else {
            if case .address(let address) = host { return [address] }
            return []
        }
        let said = try? await SystemBackend().ask(
            Question(name: name, type: .a), deadline: frame.answersEnd)
        return said.map { Statement($0).addresses } ?? []
    }
}

extension RandomNames {
    /// A well-known host of nobody who is under test. Source: RFC 6761 §6.5 sets it aside.
    static let otherServer: HostName = (try? HostName("www.example.com")) ?? .root
}
