internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSResolution
internal import HTTPDNSWire

/// Whom `lookup` asks: one resolver, or the built-in chain.
enum LookupSource: Sendable {
    case one(any ResolverBackend, LookupSourceFacts)
    /// It cannot be asked at all; every name gets this.
    case unusable(LookupTrouble, LookupSourceFacts)
    case chain(Resolver, LookupSourceFacts)

    /// Who it is, as shown to people.
    var label: String {
        facts.shown(facts.label)
    }

    /// What is known of it before it answers.
    var facts: LookupSourceFacts {
        switch self {
        case .one(_, let facts), .unusable(_, let facts), .chain(_, let facts): facts
        }
    }

    /// Asks for all types of a subject at once; of a name with several forms the first that has
    /// records counts, else the first that exists.
    func report(on subject: LookupSubject, _ request: LookupRequest) async -> LookupReport {
        let clock = SystemMonotonicClock()
        let start = clock.now()
        var best: LookupReport?
        for name in subject.candidates {
            let parts = await self.parts(name, subject.types, request, start)
            let report = report(on: subject, name, parts, request, since: start)
            guard report.status == "NXDOMAIN" || report.status == "NODATA",
                subject.candidates.count > 1
            else { return report }
            if best == nil || (best?.status == "NXDOMAIN" && report.status == "NODATA") {
                best = report
            }
        }
        return best ?? report(on: subject, nil, [], request, since: start)
    }

    private func report(
        on subject: LookupSubject, _ name: HostName?, _ parts: [LookupReport.Part],
        _ request: LookupRequest, since start: Monotonic
    ) -> LookupReport {
        let nanoseconds = SystemMonotonicClock().now().nanoseconds - start.nanoseconds
        var report = LookupReport(
            subject: subject, source: facts(after: parts), parts: parts,
            milliseconds: Double(nanoseconds) / 1e6, asksForAddresses: request.asksForAddresses)
        report.effectiveName = name
        return report
    }

    private func parts(
        _ name: HostName, _ types: [RecordType], _ request: LookupRequest, _ start: Monotonic
    ) async -> [LookupReport.Part] {
        let ask = { @Sendable (type: RecordType) in
            LookupReport.Part(
                type: type,
                result: await answer(request.question(name, type), request.timeout, start))
        }
        // The two usual cases without a group: it costs a list of names a tenth of its time.
        if types.count == 1 { return [await ask(types[0])] }
        if types.count == 2 {
            async let second = ask(types[1])
            return [await ask(types[0]), await second]
        }
        return await withTaskGroup(of: (Int, LookupReport.Part).self) { group in
            for (place, type) in types.enumerated() {
                group.addTask { (place, await ask(type)) }
            }
            var parts: [(Int, LookupReport.Part)] = []
            for await part in group { parts.append(part) }
            return parts.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func answer(
        _ question: Question, _ timeout: Duration?, _ start: Monotonic
    ) async -> Result<LookupAnswer, LookupTrouble> {
        switch self {
        case .unusable(let trouble, _): return .failure(trouble)
        case .one(let backend, _):
            let patience = timeout?.wholeMilliseconds ?? LookupSource.patienceMilliseconds
            do throws(QueryFailure) {
                let testimony = try await backend.ask(
                    question, deadline: start.adding(milliseconds: patience))
                return .success(
                    LookupAnswer(
                        testimony: testimony, ttlSeconds: AnswerLife.seconds(of: testimony),
                        isCached: false))
            } catch {
                return .failure(LookupTrouble(error))
            }
        case .chain(let resolver, _):
            if let fixed = await localhost(question, resolver) { return .success(fixed) }
            do throws(LookupFailure) {
                return .success(try await resolver.lookup(question, patience: timeout))
            } catch {
                return .failure(LookupTrouble(error))
            }
        }
    }

    /// How long one resolver is waited for.
    ///
    /// Because: three tries over UDP go out within 3 s (at 0, 1 and 3 s), and the last one gets a
    /// second to be answered.
    private static let patienceMilliseconds: Int64 = 4_000

    /// The library answers `localhost` without asking; so does its tool.
    private func localhost(_ question: Question, _ resolver: Resolver) async -> LookupAnswer? {
        let isLocal =
            question.name.text == "localhost"
            || question.name.text.hasSuffix(".localhost")
        let family: IPAddress.Family
        switch question.type {
        case .a where isLocal: family = .ipv4
        case .aaaa where isLocal: family = .ipv6
        default: return nil
        }
        guard let host = try? await resolver.resolve(.name(question.name), families: [family])
        else { return nil }
        let records = host.addresses.map {
            ResourceRecord(
                name: WireName(question.name), type: question.type, ttlSeconds: host.ttlSeconds,
                data: .address($0))
        }
        return LookupAnswer(
            testimony: Testimony(
                question: question, code: .noError, answers: records, source: host.source),
            ttlSeconds: host.ttlSeconds, isCached: false)
    }

    /// With what is known once there are answers.
    private func facts(after parts: [LookupReport.Part]) -> LookupSourceFacts {
        switch self {
        case .unusable(_, let facts): return facts
        case .one(let backend, var facts):
            facts.isAuthenticated = backend.isAuthenticated
            return facts
        case .chain(let resolver, var facts):
            let labels = parts.compactMap { try? $0.result.get().testimony.source.resolver }
            facts.isAuthenticated =
                !labels.isEmpty
                && labels.allSatisfy { label in
                    resolver.sources.contains { $0.label == label && $0.isAuthenticated }
                }
            return facts
        }
    }
}

/// One thing that happened on the way to an answer.
package struct LookupStep: Sendable, Hashable {
    package let milliseconds: Double
    package let text: String
}

/// A back-end whose questions and answers are told as they come.
struct ObservedBackend: ResolverBackend {
    let backend: any ResolverBackend
    let tell: @Sendable (String) -> Void

    var label: String { backend.label }
    var isAuthenticated: Bool { backend.isAuthenticated }
    var isLocal: Bool { backend.isLocal }
    var isOfTheSystem: Bool { backend.isOfTheSystem }
    var supportedTypes: Set<RecordType>? { backend.supportedTypes }

    func networkDidChange() { backend.networkDidChange() }

    func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        let clock = SystemMonotonicClock()
        let start = clock.now()
        let took = {
            DurationText.precise(
                milliseconds: Double(clock.now().nanoseconds - start.nanoseconds) / 1e6)
        }
        let what = "\(question.name) \(question.type)"
        tell("\(what): asking \(label)")
        do throws(QueryFailure) {
            let testimony = try await backend.ask(question, deadline: deadline)
            tell("\(what): \(label) \(ObservedBackend.words(testimony)), in \(took())")
            return testimony
        } catch {
            tell("\(what): \(label): \(error), after \(took())")
            throw error
        }
    }

    private static func words(_ testimony: Testimony) -> String {
        let count = testimony.answers.count
        let source = testimony.source
        let server = source.server.map { " from \($0)" } ?? ""
        let tries = source.tries > 1 ? " after \(source.tries) tries" : ""
        let reasons = testimony.extendedErrors.map { ", " + $0.shown }.joined()
        return "answered \(testimony.code.name), \(count) \(count == 1 ? "record" : "records"), "
            + "over \(source.transport.rawValue)\(server)\(tries)\(reasons)"
    }
}
