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

    /// Asks for all types of a subject at once.
    func report(on subject: LookupSubject, _ request: LookupRequest) async -> LookupReport {
        let clock = SystemMonotonicClock()
        let start = clock.now()
        var parts: [LookupReport.Part] = []
        if case .success(let name) = subject.name {
            parts = await self.parts(name, subject.types, request, start)
        }
        let nanoseconds = clock.now().nanoseconds - start.nanoseconds
        return LookupReport(
            subject: subject, source: facts(after: parts), parts: parts,
            milliseconds: Double(nanoseconds) / 1e6, asksForAddresses: request.asksForAddresses)
    }

    private func parts(
        _ name: HostName, _ types: [RecordType], _ request: LookupRequest, _ start: Monotonic
    ) async -> [LookupReport.Part] {
        let results = await withTaskGroup(
            of: (Int, Result<LookupAnswer, LookupTrouble>).self
        ) { group in
            for (place, type) in types.enumerated() {
                var question = Question(name: name, type: type)
                question.wantsDNSSEC = request.wantsDNSSEC
                question.wantsRecursion = request.wantsRecursion
                group.addTask { [question] in
                    (place, await self.answer(question, request.timeout, start))
                }
            }
            var results: [Int: Result<LookupAnswer, LookupTrouble>] = [:]
            for await (place, result) in group { results[place] = result }
            return results
        }
        return types.enumerated().compactMap { place, type in
            results[place].map { LookupReport.Part(type: type, result: $0) }
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
    var supportedTypes: Set<RecordType>? { backend.supportedTypes }

    func ask(
        _ question: Question, deadline: Monotonic
    ) async throws(QueryFailure) -> Testimony {
        let what = "\(question.name) \(question.type)"
        tell("\(what): asking \(label)")
        do throws(QueryFailure) {
            let testimony = try await backend.ask(question, deadline: deadline)
            tell("\(what): \(label) " + ObservedBackend.words(testimony))
            return testimony
        } catch {
            tell("\(what): \(label): \(error)")
            throw error
        }
    }

    private static func words(_ testimony: Testimony) -> String {
        let count = testimony.answers.count
        let source = testimony.source
        let server = source.server.map { " from \($0)" } ?? ""
        let tries = source.tries > 1 ? " after \(source.tries) tries" : ""
        return "answered \(testimony.code.name), \(count) \(count == 1 ? "record" : "records"), "
            + "over \(source.transport.rawValue)\(server)\(tries)"
    }
}
