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
                guard let question = PlainQuestion(frame.name, .a) else { return }
                let begun = SystemMonotonicClock().now()
                var said: (statement: Statement?, raw: [UInt8])?
                DatagramAsking(
                    server: address, questions: [question], listeningMilliseconds: 0,
                    deadline: frame.answersEnd
                ).run { _, reply in
                    guard case .first(let octets) = reply else { return }
                    // Whatever it says, that it says something is what counts.
                    let statement = try? question.statement(
                        octets, about: frame.name, from: "udp://\(address)"
                    ).get()
                    said = (statement ?? Statement(code: .serverFailure), octets)
                }
                frame.tell(
                    .dark(
                        DarkEvidence(
                            address: address, statement: said?.statement,
                            seen: frame.sighting(since: begun),
                            raw: frame.options.keepsRaw
                                ? said.map { RawReply(.dnsMessage, $0.raw) } : nil)))
            }
        }
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
