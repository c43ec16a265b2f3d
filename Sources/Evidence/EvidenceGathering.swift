internal import HTTPDNSDatagram
internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSStatic
internal import HTTPDNSSystem
internal import HTTPDNSWire

/// One thing that a job of a run found out.
enum Found: Sendable {
    case answer(AnswerEvidence)
    case race(RaceEvidence)
    case random(RandomNameEvidence)
    case dark(DarkEvidence)
    case vacant(VacantPortEvidence)
    case identity(IdentityEvidence)
    case peer(PeerEvidence)
    case fetch(FetchEvidence)
    case routes(RouteEvidence)
    case translation(TranslationEvidence)
    case time(EvidenceSource, ToldTime, isProven: Bool, Sighting)
    /// Why something could not be asked, in the system's words.
    case shortage(String)
    /// A job has ended.
    case ended

    /// The system's word for why nothing came of it; nil where that says nothing.
    var trouble: String? {
        switch self {
        case .answer(let answer): answer.result.trouble
        case .random(let probe): probe.answer.result.trouble
        case .translation(let translation): translation.result.trouble
        case .peer(let peer): peer.connection.trouble
        case .fetch(let fetch):
            if case .failure(let failure) = fetch.result { failure.reason } else { nil }
        case .shortage(let word): word
        case .race, .dark, .vacant, .identity, .routes, .time, .ended: nil
        }
    }
}

extension Result<Statement, QueryFailure> {
    fileprivate var trouble: String? {
        switch self {
        case .failure(.unreachable(let word)), .failure(.misconfigured(let word)),
            .failure(.unexpected(let word)):
            word
        case .success, .failure: nil
        }
    }
}

extension PeerEvidence.Connection {
    fileprivate var trouble: String? {
        switch self {
        case .failed(_, let word), .notDialled(let word): word
        case .connected, .timedOut: nil
        }
    }
}

/// What the jobs of one run have in common.
struct RunFrame: Sendable {
    let name: HostName
    let options: DiagnosisOptions
    let start: Monotonic
    /// When what need not be there is no longer waited for.
    let vacantEnd: Monotonic
    /// When answers must be there, so that what they give can still be looked at.
    let answersEnd: Monotonic
    let end: Monotonic
    let randomNames: [(parent: RandomNameEvidence.Parent, name: HostName)]
    let tell: @Sendable (Found) -> Void

    func sighting(since begun: Monotonic) -> Sighting {
        let now = SystemMonotonicClock().now()
        return Sighting(
            atMilliseconds: now.milliseconds(since: start),
            tookMilliseconds: now.milliseconds(since: begun))
    }

    /// Runs what blocks on a thread of its own. When the task is cancelled it is no longer waited for;
    /// what it then finds, nobody hears.
    static func offPool(_ body: @escaping @Sendable () -> Void) async {
        let waiter = Locked<CheckedContinuation<Void, Never>?>(nil)
        let isOver = Locked(false)
        let end: @Sendable () -> Void = {
            isOver.withLock { $0 = true }
            let waiting = waiter.withLock { waiter in
                defer { waiter = nil }
                return waiter
            }
            waiting?.resume()
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                waiter.withLock { $0 = continuation }
                let work: @Sendable () -> Void = {
                    body()
                    end()
                }
                if !DetachedThread.start(named: "httpdns-diagnose", work) { work() }
                // A cancel that came before there was anybody to wake.
                if isOver.withLock({ $0 }) { end() }
            }
        } onCancel: {
            end()
        }
    }
}

/// Asks one source about the name, and about names made up.
struct SourceAsking: Sendable {
    let frame: RunFrame
    let source: EvidenceSource

    private var types: [RecordType] { [.a, .aaaa] }

    // MARK: Back-ends

    /// Asks a back-end; `probes` says whether made-up names are asked for, too.
    func ask(_ backend: any ResolverBackend, randomNames: Int = .max) async {
        await withTaskGroup(of: Void.self) { group in
            for type in types where backend.supportedTypes?.contains(type) ?? true {
                group.addTask {
                    frame.tell(.answer(await answer(backend, frame.name, type)))
                }
            }
            for probe in frame.randomNames.prefix(randomNames) {
                group.addTask {
                    let answer = await answer(backend, probe.name, .a)
                    frame.tell(.random(RandomNameEvidence(parent: probe.parent, answer: answer)))
                }
            }
            if let whoami = frame.options.whoami, source.transport != .system {
                group.addTask { await identify(backend, whoami) }
            }
        }
    }

    private func answer(
        _ backend: any ResolverBackend, _ name: HostName, _ type: RecordType
    ) async -> AnswerEvidence {
        let begun = SystemMonotonicClock().now()
        // Of several, the one that was judged last.
        let received = Locked<RawReply?>(nil)
        let result: Result<Statement, QueryFailure>
        do throws(QueryFailure) {
            let said = try await backend.askTelling(
                Question(name: name, type: type), deadline: frame.answersEnd
            ) { [frame, source] reply in
                if frame.options.keepsRaw { received.withLock { $0 = reply.raw } }
                let seen = frame.sighting(since: begun)
                for told in reply.times {
                    frame.tell(.time(source, told, isProven: backend.isAuthenticated, seen))
                }
            }
            result = .success(Statement(said))
        } catch { result = .failure(error) }
        return AnswerEvidence(
            source: source, name: name, type: type, result: result,
            seen: frame.sighting(since: begun), raw: received.withLock { $0 })
    }

    /// Whom a service sees asking: it answers by an address or a text.
    private func identify(_ backend: any ResolverBackend, _ whoami: HostName) async {
        let begun = SystemMonotonicClock().now()
        var texts: [String] = []
        let received = Locked<[RawReply]>([])
        for type in [RecordType.a, .txt] where backend.supportedTypes?.contains(type) ?? true {
            let said = try? await backend.askTelling(
                Question(name: whoami, type: type), deadline: frame.answersEnd
            ) { [frame] reply in
                if frame.options.keepsRaw { received.withLock { $0.append(reply.raw) } }
            }
            for record in (said?.answers ?? []).prefix(4) {
                switch record.data {
                case .address(let address): texts.append("\(address)")
                case .txt(let strings):
                    texts += strings.prefix(4).map { String(decoding: $0, as: UTF8.self) }
                default: break
                }
            }
        }
        frame.tell(
            .identity(
                IdentityEvidence(
                    source: source, probe: whoami.text, texts: texts,
                    seen: frame.sighting(since: begun), raw: received.withLock { $0 })))
    }

    // MARK: The hosts file

    /// Nobody is asked: the file has the name or not.
    func read(hostsFile path: String) {
        let text =
            frame.options.hostsText
            ?? SmallFile.read(path, atMost: DiagnosisOptions.mostHostsOctets) ?? []
        let table = HostsFile.parseTolerantly(String(decoding: text, as: UTF8.self)).file.table
        let all = table[frame.name] ?? []
        for (type, family) in [(RecordType.a, IPAddress.Family.ipv4), (.aaaa, .ipv6)] {
            let addresses = all.filter { $0.family == family }
            frame.tell(
                .answer(
                    AnswerEvidence(
                        source: source, name: frame.name, type: type,
                        result: addresses.isEmpty
                            ? .failure(.notCovered) : .success(Statement(addresses: addresses)))))
        }
    }

    // MARK: Name servers

    /// The name, and the names made up.
    private var nameItems: [(ask: Ask, question: PlainQuestion)] {
        let names = types.map { (Ask.name($0), PlainQuestion(frame.name, $0)) }
        let random = frame.randomNames.enumerated().map { place, probe in
            (Ask.random(place), PlainQuestion(probe.name, .a))
        }
        return (names + random).compactMap { ask, question in question.map { (ask, $0) } }
    }

    /// Everything that goes to one server over UDP. Blocks.
    ///
    /// - Parameter end: when it is no longer waited for, where that is before all answers must be there.
    func askDatagrams(_ server: Endpoint, by end: Monotonic? = nil) {
        var items = nameItems
        let add = { (ask: Ask, question: PlainQuestion?) in
            if let question { items.append((ask, question)) }
        }
        if frame.options.asksIdentity {
            for probe in ["id.server", "version.bind"] {
                add(
                    .identity(probe),
                    WireName(text: probe).flatMap { PlainQuestion($0, .txt, recordClass: 3) })
            }
        }
        if let whoami = frame.options.whoami {
            add(.whoami(whoami), PlainQuestion(whoami, .a))
            add(.whoami(whoami), PlainQuestion(whoami, .txt))
        }
        let begun = SystemMonotonicClock().now()
        var firsts: [Int: AnswerEvidence] = [:]
        DatagramAsking(
            server: server, questions: items.map(\.question),
            listeningMilliseconds: frame.options.listening.wholeMilliseconds,
            deadline: end.map { min($0, frame.answersEnd) } ?? frame.answersEnd
        ).run { place, reply in
            guard items.indices.contains(place) else { return }
            let (ask, question) = items[place]
            note(reply, to: ask, question, place, begun, &firsts)
        }
    }

    private enum Ask {
        case name(RecordType)
        /// By the place in ``RunFrame/randomNames``.
        case random(Int)
        case identity(String)
        case whoami(HostName)
    }

    private func note(
        _ reply: DatagramAsking.Reply, to ask: Ask, _ question: PlainQuestion, _ place: Int,
        _ begun: Monotonic, _ firsts: inout [Int: AnswerEvidence]
    ) {
        switch ask {
        case .identity(let probe): noteIdentity(reply, probe, question, begun)
        case .whoami(let name): noteIdentity(reply, name.text, question, begun)
        case .random(let index):
            guard frame.randomNames.indices.contains(index) else { return }
            if case .further = reply { return }
            let probe = frame.randomNames[index]
            let answer = evidence(reply, probe.name, .a, question, begun)
            frame.tell(.random(RandomNameEvidence(parent: probe.parent, answer: answer)))
        case .name(let type):
            let answer = evidence(reply, frame.name, type, question, begun)
            guard case .further(_, let apart) = reply else {
                firsts[place] = answer
                frame.tell(.answer(answer))
                return
            }
            guard let before = firsts[place], let first = before.statement,
                let second = answer.statement, SourceAsking.differs(first, second)
            else { return }
            // One is enough: who sends a thousand more is not listened to.
            firsts[place] = nil
            frame.tell(
                .race(
                    RaceEvidence(
                        source: source, type: type, first: first, second: second,
                        millisecondsApart: apart, seen: answer.seen,
                        raw: [before.raw, answer.raw].compactMap(\.self))))
        }
    }

    /// TTLs, and the order of addresses, may differ in honest repeats.
    private static func differs(_ first: Statement, _ second: Statement) -> Bool {
        first.code != second.code || Set(first.addresses) != Set(second.addresses)
            || first.aliases != second.aliases
    }

    private func evidence(
        _ reply: DatagramAsking.Reply, _ name: HostName, _ type: RecordType,
        _ question: PlainQuestion, _ begun: Monotonic
    ) -> AnswerEvidence {
        var raw: RawReply?
        let result: Result<Statement, QueryFailure>
        switch reply {
        case .first(let octets), .further(let octets, _):
            raw = kept(octets)
            result = question.statement(octets, about: name, from: source.label)
        case .failed(let word): result = .failure(.unreachable(word))
        case .silent(let tries): result = .failure(.timedOut(tries: tries))
        }
        return AnswerEvidence(
            source: source, name: name, type: type, result: result,
            seen: frame.sighting(since: begun), raw: raw)
    }

    /// A message, where messages are kept.
    private func kept(_ octets: [UInt8]) -> RawReply? {
        frame.options.keepsRaw ? RawReply(.dnsMessage, octets) : nil
    }

    private func noteIdentity(
        _ reply: DatagramAsking.Reply, _ probe: String, _ question: PlainQuestion,
        _ begun: Monotonic
    ) {
        var texts: [String] = []
        var raw: RawReply?
        if case .first(let octets) = reply {
            raw = kept(octets)
            texts = question.texts(octets)
            if question.type == .a, let message = try? Message(decoding: octets) {
                texts = message.answers.prefix(4).compactMap {
                    if case .address(let address) = $0.data { "\(address)" } else { nil }
                }
            }
        }
        frame.tell(
            .identity(
                IdentityEvidence(
                    source: source, probe: probe, texts: texts,
                    seen: frame.sighting(since: begun), raw: raw.map { [$0] } ?? [])))
    }

    /// The name and the names made up, over TCP. Blocks.
    func askStreams(_ server: Endpoint) {
        let items = nameItems
        let begun = SystemMonotonicClock().now()
        StreamAsking(
            server: server, questions: items.map(\.question), deadline: frame.answersEnd
        ).run { place, reply in
            guard items.indices.contains(place) else { return }
            let (ask, question) = items[place]
            switch ask {
            case .name(let type):
                frame.tell(.answer(evidence(reply, frame.name, type, question, begun)))
            case .random(let index):
                guard frame.randomNames.indices.contains(index) else { return }
                let probe = frame.randomNames[index]
                let answer = evidence(reply, probe.name, .a, question, begun)
                frame.tell(.random(RandomNameEvidence(parent: probe.parent, answer: answer)))
            case .identity, .whoami: break
            }
        }
    }

    private func evidence(
        _ reply: StreamAsking.Reply, _ name: HostName, _ type: RecordType,
        _ question: PlainQuestion, _ begun: Monotonic
    ) -> AnswerEvidence {
        var raw: RawReply?
        let result: Result<Statement, QueryFailure>
        switch reply {
        case .success(let octets):
            raw = kept(octets)
            result = question.statement(octets, about: name, from: source.label)
        case .failure(.network(let word)): result = .failure(.unreachable(word))
        case .failure(.silent): result = .failure(.timedOut(tries: 1))
        }
        return AnswerEvidence(
            source: source, name: name, type: type, result: result,
            seen: frame.sighting(since: begun), raw: raw)
    }
}
