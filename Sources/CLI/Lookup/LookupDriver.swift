internal import HTTPDNS
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSStatic

/// Asks what a request says, and prints what comes.
struct LookupDriver: Sendable {
    let request: LookupRequest
    let resolvers: ResolverArguments
    let configuration: ToolConfiguration
    let console: Console

    func run() async throws(CommandFault) -> ExitCode {
        let journal = LookupJournal(
            start: SystemMonotonicClock().now(),
            echo: request.isVerbose ? console : nil, keepsSteps: request.explains)
        // A list that cannot be opened is told before anybody is asked.
        let list = try request.list.map { (path) throws(CommandFault) in try ListReader(path) }
        let sources = try await sources(journal)
        let hosts = (try? FileText.read("/etc/hosts")).map { HostsFile.parseTolerantly($0).file }
        let printer = LookupPrinter(
            request: request, console: console, hosts: hosts?.table ?? [:], journal: journal)
        let asking = LookupAsking(request: request, sources: sources)
        if request.rounds != nil || request.watches {
            return await LookupRounds(asking: asking, printer: printer, console: console).run()
        }
        return await LookupStream(asking: asking, printer: printer, console: console, list: list)
            .run()
    }
}

/// Whom to ask, and what.
struct LookupAsking: Sendable {
    let request: LookupRequest
    let sources: [LookupSource]

    /// What there is to say of a subject that nobody was asked about before the command had to end.
    func unasked(_ subject: LookupSubject) -> [LookupReport] {
        sources.map { source in
            let isName = subject.nameTrouble == nil
            return LookupReport(
                subject: subject, source: source.facts,
                parts: !isName
                    ? []
                    : subject.types.map {
                        LookupReport.Part(type: $0, result: .failure(.notAsked))
                    },
                milliseconds: 0, asksForAddresses: request.asksForAddresses)
        }
    }

    /// What each source says about a subject, in the order of the sources.
    func reports(on subject: LookupSubject) async -> [LookupReport] {
        if let only = sources.first, sources.count == 1 {
            return [await only.report(on: subject, request)]
        }
        return await withTaskGroup(of: (Int, LookupReport).self) { group in
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
        let maker = BackendMaker(console: console)
        guard resolvers.areNamed else { return [try await chain(maker, journal)] }
        var sources: [LookupSource] = []
        for resolver in resolvers.resolvers {
            sources.append(await source(resolver, maker, journal))
        }
        return sources
    }

    /// When the system must have found the addresses of a resolver.
    private var bootstrapDeadline: Monotonic {
        SystemMonotonicClock().now().adding(
            milliseconds: request.timeout?.wholeMilliseconds
                ?? LookupDriver.bootstrapMilliseconds)
    }

    private func chain(
        _ maker: BackendMaker, _ journal: LookupJournal
    ) async throws(CommandFault) -> LookupSource {
        var settings = HTTPDNSConfiguration()
        settings.resolvers = []
        settings.overrides = configuration.overrides
        settings.resolverOptions = configuration.resolverOptions
        // What was answered is shown; refusing it is the business of those who connect.
        settings.resolverOptions.addressPolicy = .off
        var labels = SourceLabels()
        var fault: CommandFault?
        for resolver in resolvers.resolvers {
            do throws(QueryFailure) {
                let made = try await maker.backend(for: resolver, deadline: bootstrapDeadline)
                let backend = labels.labelled(made.backend, for: resolver.description)
                settings.customResolvers.append(observed(backend, journal))
            } catch {
                let text = "resolver \(resolver.description): \(error)"
                if case .misconfigured = error { throw .usage(text) }
                // The others may know; that is what a chain is for.
                console.note("note: " + text)
                fault = CommandFault(text, code: LookupTrouble(error).code)
            }
        }
        if settings.customResolvers.isEmpty, let fault { throw fault }
        try await ConfiguredRoutes(
            configuration: configuration, maker: maker, console: console,
            deadline: bootstrapDeadline
        ).apply(to: &settings, &labels) { observed($0, journal) }
        let label = resolvers.descriptions.map(\.description).joined(separator: ", ")
        do throws(SetupFault) {
            var facts = LookupSourceFacts(label: label, transport: nil)
            for resolver in resolvers.resolvers {
                facts.names[resolver.description.description] = resolver.name
            }
            return .chain(try HTTPDNS(settings).resolver, facts)
        } catch {
            throw .usage("\(error)")
        }
    }

    private func source(
        _ resolver: NamedResolver, _ maker: BackendMaker, _ journal: LookupJournal
    ) async -> LookupSource {
        var facts = LookupSourceFacts(
            label: resolver.description.description,
            transport: resolver.description.transportName)
        facts.names[facts.label] = resolver.name
        do throws(QueryFailure) {
            let made = try await maker.backend(for: resolver, deadline: bootstrapDeadline)
            facts.server = made.addressed.plainServer
            return .one(observed(made.backend, journal), facts)
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
        if bootstrap.count > 1 { return nil }
        if let address = bootstrap.first { return "\(address.uriText):\(port)" }
        if case .address(let address) = host { return "\(address.uriText):\(port)" }
        return nil
    }
}
