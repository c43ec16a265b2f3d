internal import HTTPDNS
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSStatic
internal import HTTPDNSTransport
internal import HTTPDNSTrust

/// Asks what a request says, and prints what comes.
struct LookupDriver: Sendable {
    let request: LookupRequest
    let resolvers: ResolverArguments
    let trust: TrustPolicy
    let console: Console

    func run() async throws(CommandFault) -> ExitCode {
        let journal = LookupJournal(
            start: SystemMonotonicClock().now(),
            echo: request.isVerbose ? console : nil)
        let sources = try await sources(journal)
        let hosts = (try? FileText.read("/etc/hosts")).map { HostsFile.parseTolerantly($0).file }
        let printer = LookupPrinter(
            request: request, console: console, hosts: hosts, journal: journal)
        return await askAll(sources, printer)
    }

    /// Many subjects in flight, printed in the order they were given.
    private func askAll(_ sources: [LookupSource], _ printer: LookupPrinter) async -> ExitCode {
        let subjects = request.subjects
        return await withTaskGroup(of: (Int, [LookupReport]).self) { group in
            let ask = { @Sendable (place: Int) in
                (place, await reports(on: subjects[place], sources))
            }
            var next = 0
            while next < min(request.parallel, subjects.count) {
                group.addTask { [next] in await ask(next) }
                next += 1
            }
            var waiting: [Int: [LookupReport]] = [:]
            var printed = 0
            var code = ExitCode.succeeded
            for await (place, reports) in group {
                if next < subjects.count {
                    group.addTask { [next] in await ask(next) }
                    next += 1
                }
                waiting[place] = reports
                while let ready = waiting.removeValue(forKey: printed) {
                    printer.print(ready)
                    printed += 1
                    code = ready.map(\.exitCode).reduce(code) { max($0, $1) }
                }
                printer.progress(printed, of: subjects.count)
            }
            return code
        }
    }

    private func reports(
        on subject: LookupSubject, _ sources: [LookupSource]
    ) async -> [LookupReport] {
        await withTaskGroup(of: (Int, LookupReport).self) { group in
            for (place, source) in sources.enumerated() {
                group.addTask { (place, await source.report(on: subject, request)) }
            }
            var reports: [(Int, LookupReport)] = []
            for await report in group { reports.append(report) }
            return reports.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

// Making the sources
extension LookupDriver {
    private func sources(_ journal: LookupJournal) async throws(CommandFault) -> [LookupSource] {
        guard !resolvers.descriptions.isEmpty else {
            return [try chain(try makeFactory(), journal)]
        }
        let isPlain = resolvers.descriptions.allSatisfy { $0.provenHost == nil }
        let factory = isPlain ? nil : try makeFactory()
        var sources: [LookupSource] = []
        for description in resolvers.descriptions {
            sources.append(await source(description, factory, journal))
        }
        return sources
    }

    private func makeFactory() throws(CommandFault) -> ResolverFactory {
        do throws(SetupFault) {
            return try ResolverFactory(trust: trust, transport: Transport())
        } catch {
            throw .usage("\(error)")
        }
    }

    private func chain(
        _ factory: ResolverFactory, _ journal: LookupJournal
    ) throws(CommandFault) -> LookupSource {
        var backends: [any ResolverBackend] = []
        for description in ResolverDescription.builtIn {
            do throws(SetupFault) {
                backends.append(observed(try factory.backend(for: description), journal))
            } catch {
                throw .usage("\(error)")
            }
        }
        let label = ResolverDescription.builtIn.map(\.description).joined(separator: ", ")
        return .chain(
            Resolver(sources: backends), LookupSourceFacts(label: label, transport: nil))
    }

    private func source(
        _ description: ResolverDescription, _ factory: ResolverFactory?, _ journal: LookupJournal
    ) async -> LookupSource {
        var facts = LookupSourceFacts(
            label: description.description, transport: description.transportName)
        let deadline = SystemMonotonicClock().now().adding(
            milliseconds: request.timeout?.wholeMilliseconds
                ?? LookupDriver.bootstrapMilliseconds)
        do throws(QueryFailure) {
            let addressed = try await SystemBootstrap.addressed(
                description, deadline: deadline, console)
            facts.server = addressed.plainServer
            if let plain = ResolverFactory.trustlessBackend(for: addressed) {
                return .one(observed(plain, journal), facts)
            }
            do throws(SetupFault) {
                let factory =
                    if let factory { factory } else {
                        try ResolverFactory(trust: trust, transport: Transport())
                    }
                return .one(observed(try factory.backend(for: addressed), journal), facts)
            } catch {
                switch error {
                case .resolver(_, let failure): throw failure
                case .trust(let error): throw .misconfigured("\(error)")
                }
            }
        } catch {
            return .unusable(LookupTrouble(error), facts)
        }
    }

    /// Because: the system's resolver itself tries for 5 s at a time. Source: resolv.conf(5).
    private static let bootstrapMilliseconds: Int64 = 5_000

    private func observed(
        _ backend: any ResolverBackend, _ journal: LookupJournal
    ) -> any ResolverBackend {
        guard request.isVerbose || request.explains else { return backend }
        return ObservedBackend(backend: backend) { journal.add($0) }
    }
}

extension ResolverDescription {
    /// The one server of plain DNS, where it is known.
    fileprivate var plainServer: String? {
        guard case .datagram(let host, let port, _) = kind else { return nil }
        if case .address(let address) = host { return "\(address.uriText):\(port)" }
        return bootstrap.count == 1 ? "\(bootstrap[0].uriText):\(port)" : nil
    }
}
