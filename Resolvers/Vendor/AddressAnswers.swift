package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// A protocol that knows names and addresses only, and says everything of a request in one body.
///
/// The body is read once, whatever the number of questions.
package protocol AddressCodec: HTTPDNSCodec {
    /// Everything that the response says.
    func answers(
        in response: HTTPDNSResponse, to questions: [Question]
    ) throws(QueryFailure) -> AddressAnswers
}

extension AddressCodec {
    package var supportedTypes: Set<RecordType>? { [.a, .aaaa] }
    package var answerTransport: AnswerTransport { .httpdns }

    package func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        try request(for: [question], now: now)
    }

    package func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        guard question.type.addressFamily != nil else { throw .unsupportedType(question.type) }
        return try answers(in: response, to: [question])
            .testimony(for: question, isAlone: true, source: source)
    }

    package func testimonies(
        from response: HTTPDNSResponse, for questions: [Question], source: Testimony.Source
    ) -> [Result<Testimony, QueryFailure>] {
        let answers: AddressAnswers
        do throws(QueryFailure) {
            answers = try self.answers(in: response, to: questions)
        } catch {
            return questions.map { _ in .failure(error) }
        }
        let isAlone = Set(questions.map(\.name)).count == 1
        return questions.map { question in
            do throws(QueryFailure) {
                return .success(
                    try answers.testimony(for: question, isAlone: isAlone, source: source))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// What one body says: of each name, in each family.
package struct AddressAnswers: Sendable, Hashable {
    /// Our address as the service saw it.
    package var clientAddress: IPAddress?
    package private(set) var named: [HostName: NamedAnswer] = [:]
    private var unnamed: NamedAnswer?
    /// What was wrong with the first entry that cannot be told to be of any name.
    private var fault: QueryFailure?

    package init() {}

    /// Adds what an entry says. One that cannot be read condemns itself alone.
    mutating func add(
        for name: HostName?, _ read: () throws(QueryFailure) -> NamedAnswer
    ) {
        do throws(QueryFailure) { add(try read(), for: name) } catch {
            guard let name else { return skip(error) }
            var answer = NamedAnswer()
            answer.failure = error
            add(answer, for: name)
        }
    }

    /// An entry is wrong, and names nobody.
    mutating func skip(_ failure: QueryFailure) { fault = fault ?? failure }

    /// Several entries of one name are one answer.
    mutating func add(_ answer: NamedAnswer, for name: HostName?) {
        guard let name else {
            unnamed = unnamed.map { $0.merged(with: answer) } ?? answer
            return
        }
        guard !named.isEmpty, let known = named[name] else {
            named[name] = answer
            return
        }
        named[name] = known.merged(with: answer)
    }

    /// - Parameter isAlone: one name was asked for, so an answer without a name is its answer, and a
    ///   list that is not there means "none". Among several names it means nothing: batch calls leave
    ///   out what they do not know how to ask for.
    func testimony(
        for question: Question, isAlone: Bool, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony {
        guard let family = question.type.addressFamily else {
            throw .unsupportedType(question.type)
        }
        guard let answer = named[question.name] ?? (isAlone ? unnamed : nil) else {
            if !isAlone, !named.isEmpty { throw .notCovered }
            throw fault ?? .malformed(missing(question.name))
        }
        if let failure = answer.failure { throw failure }
        var source = source
        source.clientAddress = clientAddress
        let list = family == .ipv4 ? answer.ipv4 : answer.ipv6
        guard list != nil || isAlone else { throw .notCovered }
        source.extra = list?.extra ?? answer.extra
        if let fault = list?.fault { throw fault }
        let name = WireName(question.name)
        let records = (list?.addresses ?? []).map { address in
            ResourceRecord(
                name: name, type: question.type,
                ttlSeconds: list?.seconds ?? AnswerLifetime.defaultSeconds, data: .address(address))
        }
        return Testimony(
            question: question, code: .noError, answers: records,
            negativeTTLSeconds: records.isEmpty ? list?.seconds ?? answer.seconds : nil,
            source: source)
    }

    private func missing(_ name: HostName) -> String {
        guard let other = named.keys.min() else { return "it has no answer for \(name)" }
        let more = named.count > 1 ? " and \(named.count - 1) more" : ""
        return "it answers for \(ServerText.shown(other.text))\(more), not \(name)"
    }
}

/// What a body says of one name.
package struct NamedAnswer: Sendable, Hashable {
    package var ipv4: FamilyAnswer?
    package var ipv6: FamilyAnswer?
    /// What the service adds for the application.
    var extra: String?
    /// How long the answer as a whole holds, where it says.
    package var seconds: UInt32?
    /// The service refuses this name alone.
    var failure: QueryFailure?

    init() {}

    fileprivate func merged(with other: NamedAnswer) -> NamedAnswer {
        var merged = self
        merged.ipv4 = FamilyAnswer.merged(ipv4, other.ipv4)
        merged.ipv6 = FamilyAnswer.merged(ipv6, other.ipv6)
        merged.extra = extra ?? other.extra
        merged.seconds = [seconds, other.seconds].compactMap { $0 }.min()
        merged.failure = failure ?? other.failure
        return merged
    }
}

/// The addresses of one family.
package struct FamilyAnswer: Sendable, Hashable {
    package var addresses: [IPAddress] = []
    /// How long they hold, or how long "none" does; nil when the answer does not say.
    var seconds: UInt32?
    var extra: String?
    /// The list cannot be read: only who asked for this family need know.
    var fault: QueryFailure?

    fileprivate static func merged(_ one: FamilyAnswer?, _ other: FamilyAnswer?) -> FamilyAnswer? {
        guard let one, let other else { return one ?? other }
        var merged = one
        merged.addresses += other.addresses.filter { !one.addresses.contains($0) }
        merged.seconds = [one.seconds, other.seconds].compactMap { $0 }.min()
        merged.extra = one.extra ?? other.extra
        merged.fault = one.fault ?? other.fault
        return merged
    }
}
