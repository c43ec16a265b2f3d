public import HTTPDNSDiagnosis
internal import HTTPDNSExchange
internal import HTTPDNSLookup
public import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform
internal import HTTPDNSPublicSuffix
internal import HTTPDNSRedaction
public import HTTPDNSTrust
internal import HTTPDNSWire

extension Diagnosis {
    /// Finds out what is going on with a name on this network.
    ///
    /// Everything goes on at the same time, inside ``DiagnosisOptions/patience``; what is not there by
    /// then is left out, and the verdict says so. A cancelled task gets what is known by then.
    ///
    /// - Parameters:
    ///   - name: the name under test.
    ///   - options: whom to ask, and what else.
    ///   - onEvent: told of each thing as it is found out, one at a time; must return at once.
    /// - Throws: `TrustSetupError` when ``DiagnosisOptions/trust`` cannot be put to use.
    public static func run(
        _ name: HostName, options: DiagnosisOptions,
        onEvent: @escaping @Sendable (DiagnosisEvent) -> Void = { _ in }
    ) async throws(TrustSetupError) -> Diagnosis {
        try await DiagnosisRun(name, options, onEvent).outcome()
    }
}

/// One run: starts the jobs, takes in what they find, starts what follows from it, and lets the core
/// judge at the end.
///
///     sources ──▶ answers ──▶ addresses ──▶ peers ──▶ verified page
///        │                       └────────▶ pages in clear
///        └─ made-up names, dark address, identities, portal probe, network facts
///
/// Each job ends by the deadline by itself; the run ends with the last one.
private struct DiagnosisRun {
    private let frame: RunFrame
    private let options: DiagnosisOptions
    private let onEvent: @Sendable (DiagnosisEvent) -> Void
    private let verifier: OpenSSLVerifier
    private let found: AsyncStream<Found>
    private let continuation: AsyncStream<Found>.Continuation
    private let clock = SystemMonotonicClock()

    /// What a run has taken in so far, and what it has set off.
    private struct Progress {
        var evidence: Evidence
        var open = 0
        var slots = PeerSlots()
        /// Addresses that are not dialled, with the reason.
        var declined: [IPAddress: String] = [:]
        var fetchedInClear: Set<IPAddress> = []
        var hasVerifiedPage = false

        /// Whether a cancel left something out; one that comes after everything does not.
        var isCutShort: Bool {
            guard Task.isCancelled else { return false }
            return open > 0
                || evidence.answers.contains { answer in
                    if case .failure(.cancelled) = answer.result { true } else { false }
                }
        }
    }

    init(
        _ name: HostName, _ options: DiagnosisOptions,
        _ onEvent: @escaping @Sendable (DiagnosisEvent) -> Void
    ) throws(TrustSetupError) {
        let wall: any WallSource = options.moment.map { FixedMoment(time: $0) } ?? SystemWallClock()
        verifier = try OpenSSLVerifier(
            policy: options.trust,
            isPublicSuffix: { text in
                (try? HostName(text)).map { PublicSuffix.isPublicSuffix($0) } ?? false
            }, clock: wall)
        self.options = options
        self.onEvent = onEvent
        let (stream, continuation) = AsyncStream.makeStream(of: Found.self)
        found = stream
        self.continuation = continuation
        let start = clock.now()
        let own = max(options.patience.wholeMilliseconds, 0)
        let patience = options.deadline.map { max($0.millisecondsLeft(from: start), 0) } ?? own
        frame = RunFrame(
            name: name, options: options, start: start,
            vacantEnd: start.adding(
                milliseconds: min(
                    max(options.vacantPatience.wholeMilliseconds, 0), patience / 10 * 6)),
            answersEnd: start.adding(milliseconds: patience / 10 * 6),
            end: start.adding(milliseconds: patience),
            randomNames: RandomNames.make(for: name), tell: { continuation.yield($0) })
    }

    func outcome() async -> Diagnosis {
        let now = options.moment ?? SystemWallClock().now()
        var progress = Progress(evidence: Evidence(name: frame.name, now: now))
        progress.evidence.registrableDomain = PublicSuffix.registrableDomain(of: frame.name)
        progress.evidence.isUnderRegistry = PublicSuffix.registrySuffix(of: frame.name) != nil
        progress.evidence.skipped = skipped
        progress.evidence.patienceMilliseconds = frame.end.milliseconds(since: frame.start)
        if options.probe != nil { progress.evidence.expectedProbe = options.probeExpectation }
        let sources = RunSources(options)
        progress.evidence.sources = sources.all
        progress.evidence.network.nameservers = sources.nameservers
        onEvent(.started(sources.all))
        await withTaskGroup(of: Void.self) { group in
            for job in sources.jobs(frame) + besides { start(job, &group, &progress) }
            guard progress.open > 0 else { return }
            for await found in found {
                take(found, &group, &progress)
                if progress.open == 0 { break }
            }
            // A cancelled run does not wait for what is under way.
            group.cancelAll()
        }
        noteDeclined(&progress)
        if progress.slots.leftOut > 0 {
            progress.evidence.unfinished.append(
                "\(progress.slots.leftOut) addresses were not tried, there are too many")
        }
        if progress.isCutShort {
            progress.evidence.isInterrupted = true
            progress.evidence.unfinished.append("the run was cancelled")
        }
        let took = clock.now().milliseconds(since: frame.start)
        progress.evidence.tookMilliseconds = took
        progress.evidence.nameReferences()
        progress.evidence.order()
        let judgement = Judgement(of: progress.evidence)
        onEvent(.judged(judgement))
        return Diagnosis(evidence: progress.evidence, judgement: judgement)
    }

    private typealias Job = @Sendable () async -> Void

    private func start(
        _ job: @escaping Job, _ group: inout TaskGroup<Void>, _ progress: inout Progress
    ) {
        progress.open += 1
        group.addTask { [continuation] in
            await job()
            continuation.yield(.ended)
        }
    }

    // MARK: What follows

    private func take(
        _ found: Found, _ group: inout TaskGroup<Void>, _ progress: inout Progress
    ) {
        noteShortage(found.trouble, &progress)
        switch found {
        case .ended: progress.open -= 1
        case .shortage: break
        case .answer(let answer):
            progress.evidence.answers.append(answer)
            onEvent(.answered(answer))
            follow(answer.statement?.addresses ?? [], of: answer.source, &group, &progress)
        case .race(let race):
            // The first is what is judged; more are a flood.
            let isKnown = progress.evidence.races.contains {
                $0.source == race.source && $0.type == race.type
            }
            guard !isKnown else { return }
            progress.evidence.races.append(race)
            onEvent(.raced(race))
            let addresses = race.first.addresses + race.second.addresses
            follow(addresses, of: race.source, &group, &progress)
        case .random(let probe):
            progress.evidence.randomNames.append(probe)
            onEvent(.asked(probe))
        case .dark(let dark):
            progress.evidence.dark = dark
            onEvent(.listened(dark))
        case .vacant(let vacant):
            progress.evidence.vacantPorts.append(vacant)
            onEvent(.knocked(vacant))
        case .identity(let identity):
            progress.evidence.add(identity)
            onEvent(.identified(identity))
        case .routes(let routes):
            progress.evidence.network.routes = routes
            onEvent(.routed(routes))
        case .translation(let translation):
            progress.evidence.network.translation = translation
            onEvent(.translated(translation))
        case .fetch(let fetch):
            progress.evidence.fetches.append(fetch)
            onEvent(.fetched(fetch))
        case .time(let source, let told, let isProven, let seen):
            guard
                !progress.evidence.times.contains(where: {
                    $0.teller == source.label && $0.form == told.form
                })
            else { return }
            // The first word of each source, in each way.
            let time = TimeEvidence(
                teller: source.label, form: told.form,
                isProven: isProven && source.standing == .trusted, time: told.time,
                now: progress.evidence.now, seen: seen)
            progress.evidence.times.append(time)
            onEvent(.timed(time))
        case .peer(let peer):
            progress.evidence.peers.append(peer)
            onEvent(.met(peer))
            if peer.real?.isProven == true, options.fetches, !progress.hasVerifiedPage {
                progress.hasVerifiedPage = true
                start(page(.verified, at: peer.address), &group, &progress)
            }
        }
    }

    /// Each once: there are few.
    private func noteShortage(_ word: String?, _ progress: inout Progress) {
        guard let shortage = word.flatMap(LocalShortage.named),
            !progress.evidence.shortages.contains(shortage)
        else { return }
        progress.evidence.shortages.append(shortage)
    }

    /// Meets each address once, and asks the first of each source for its page in clear.
    private func follow(
        _ addresses: [IPAddress], of source: EvidenceSource, _ group: inout TaskGroup<Void>,
        _ progress: inout Progress
    ) {
        // A server is one liar, whether by UDP or by TCP, and on all its ports.
        let label = (source.alternateOf ?? source.server).map { "\($0)" } ?? source.label
        let giver: PeerSlots.Giver = source.isSuspect ? .judged(label) : .trusted
        let isPublic = progress.evidence.isUnderRegistry
        let reason = { (address: IPAddress) in
            reasonAgainst(address, of: source, isPublic: isPublic)
        }
        for address in addresses {
            if let reason = reason(address) {
                if progress.declined.count < DiagnosisRun.mostDeclined {
                    progress.declined[address] = reason
                }
            } else if progress.slots.take(address, from: giver) {
                start(meeting(address), &group, &progress)
            }
        }
        guard options.fetches, let first = addresses.first, reason(first) == nil,
            mayHearClearText(first),
            progress.fetchedInClear.count < DiagnosisRun.mostPages,
            progress.fetchedInClear.insert(first).inserted
        else { return }
        start(page(source.isSuspect ? .plain : .reference, at: first), &group, &progress)
    }

    /// - Parameter isPublic: whether the name under test is everybody's; one of this network's own may
    ///   well be on it.
    private func reasonAgainst(
        _ address: IPAddress, of source: EvidenceSource, isPublic: Bool
    ) -> String? {
        let meaning = AddressMeaning(of: address)
        if let meaning, !meaning.canBeDialled { return meaning.words }
        if options.staysOnLoopback {
            return address.isLoopback ? nil : "this run stays on loopback"
        }
        guard let meaning, meaning.isInternal, isPublic, !options.dialsOwnNetwork,
            source.isSuspect, source.standing != .hosts
        else { return nil }
        return "\(meaning.words), and only a source under judgement gives it"
    }

    /// A request in clear to a host of this network can do something there, whoever gives its address.
    private func mayHearClearText(_ address: IPAddress) -> Bool {
        options.staysOnLoopback || AddressMeaning(of: address)?.isInternal != true
    }

    /// What was never dialled, since nobody gave it who may have it dialled.
    private func noteDeclined(_ progress: inout Progress) {
        let met = Set(progress.evidence.peers.map(\.address))
        for (address, reason) in progress.declined where !met.contains(address) {
            let peer = PeerEvidence(
                address: address, port: options.securePort, connection: .notDialled(reason))
            progress.evidence.peers.append(peer)
            onEvent(.met(peer))
        }
    }

    private func meeting(_ address: IPAddress) -> Job {
        let now = clock.now()
        let left = frame.end.millisecondsLeft(from: now)
        // The second and third handshakes need time, too.
        let firstEnd = now.adding(milliseconds: left / 10 * 6)
        let probing = PeerProbing(
            verifier: verifier, name: frame.name,
            otherName: options.otherServerName ?? RandomNames.otherServer, port: options.securePort,
            plainPort: options.plainPort, firstEnd: firstEnd, end: frame.end)
        return { [frame] in
            await RunFrame.offPool {
                let begun = SystemMonotonicClock().now()
                var peer = probing.meet(address)
                peer.seen = frame.sighting(since: begun)
                frame.tell(.peer(peer))
            }
        }
    }

    // MARK: Pages

    private var pages: PageFetching {
        PageFetching(transport: SharedTransport.transport, verifier: verifier, deadline: frame.end)
    }

    private func page(_ purpose: FetchEvidence.Purpose, at address: IPAddress) -> Job {
        let isSecure = purpose == .verified
        let origin = Origin(
            scheme: isSecure ? .https : .http, host: .name(frame.name),
            port: isSecure ? options.securePort : options.plainPort)
        return fetch(purpose, HTTPURL(origin: origin, target: "/"), [address])
    }

    private func fetch(
        _ purpose: FetchEvidence.Purpose, _ url: HTTPURL, _ addresses: [IPAddress]
    ) -> Job {
        { [frame, pages] in
            let begun = SystemMonotonicClock().now()
            let result = await pages.page(of: url, at: addresses)
            frame.tell(
                .fetch(
                    FetchEvidence(
                        purpose: purpose, address: addresses.first,
                        url: TextRedactor().url(url.description), result: result,
                        seen: frame.sighting(since: begun))))
        }
    }

    // MARK: Besides

    private var besides: [Job] {
        var jobs: [Job] = [BesidesJobs.network(frame)]
        if let dark = options.darkAddress { jobs.append(BesidesJobs.dark(frame, dark)) }
        if options.findsTranslators { jobs.append(BesidesJobs.translators(frame)) }
        if let probe = options.probe {
            jobs.append { [frame] in
                let addresses = await BesidesJobs.addresses(of: probe.origin.host, frame)
                await fetch(.portalProbe, probe, addresses)()
            }
        }
        return jobs
    }

    private var skipped: [String] {
        var list: [String] = []
        if options.probe == nil { list.append("captive portals: no probe URL") }
        if options.darkAddress == nil { list.append("interception of port 53: no dark address") }
        if !options.asksVacantPorts { list.append("answers from ports that do no DNS") }
        if !options.asksIdentity { list.append("who the name servers say they are") }
        if !options.findsTranslators { list.append("how this network translates IPv4 (NAT64)") }
        if !options.fetches { list.append("pages in clear and over TLS") }
        return list
    }

    /// Because: what nobody dials costs a line of the report alone, and honest answers have few.
    private static let mostDeclined = 64
    /// Because: one for each kind of answer; more are alike.
    private static let mostPages = 4
}

extension Evidence {
    /// What a server said to one question of a probe beside what it said to another.
    fileprivate mutating func add(_ identity: IdentityEvidence) {
        guard
            let place = identities.firstIndex(where: {
                $0.source == identity.source && $0.probe == identity.probe
            })
        else {
            identities.append(identity)
            return
        }
        let known = identities[place]
        identities[place] = IdentityEvidence(
            source: identity.source, probe: identity.probe, texts: known.texts + identity.texts,
            seen: identity.seen, raw: known.raw + identity.raw)
    }

    /// An address is asked for its page once, when the first source gives it: whether a trusted one gave
    /// it, too, is known in the end alone.
    fileprivate mutating func nameReferences() {
        let trusted = Set(
            answers.filter { !$0.source.isSuspect }.flatMap { $0.statement?.addresses ?? [] })
        for place in fetches.indices where [.plain, .reference].contains(fetches[place].purpose) {
            guard let address = fetches[place].address else { continue }
            fetches[place].purpose = trusted.contains(address) ? .reference : .plain
        }
    }

    /// In the order of the report, whoever answered first: the same network gives the same report.
    fileprivate mutating func order() {
        let places = Dictionary(
            sources.enumerated().map { ($1.label, $0) }, uniquingKeysWith: { first, _ in first })
        let rank = { (answer: AnswerEvidence) -> (Int, UInt16) in
            (places[answer.source.label] ?? .max, answer.type.rawValue)
        }
        answers.sort { rank($0) < rank($1) }
        randomNames.sort { left, right in
            let parents = (left.parent.rawValue, right.parent.rawValue)
            guard parents.0 == parents.1 else { return parents.0 > parents.1 }
            let lengths = (left.answer.name.text.count, right.answer.name.text.count)
            guard lengths.0 == lengths.1 else { return lengths.0 < lengths.1 }
            return rank(left.answer) < rank(right.answer)
        }
        races.sort { (places[$0.source.label] ?? 0) < (places[$1.source.label] ?? 0) }
        identities.sort {
            ($0.probe, places[$0.source.label] ?? 0) < ($1.probe, places[$1.source.label] ?? 0)
        }
        vacantPorts.sort { "\($0.place)" < "\($1.place)" }
        times.sort {
            (places[$0.teller] ?? .max, $0.form.rawValue)
                < (places[$1.teller] ?? .max, $1.form.rawValue)
        }
        peers.sort { $0.address.sortKey < $1.address.sortKey }
        fetches.sort {
            ($0.purpose.rawValue, $0.address?.description ?? "")
                < ($1.purpose.rawValue, $1.address?.description ?? "")
        }
    }
}

extension IPAddress {
    /// IPv4 first, then by number.
    fileprivate var sortKey: (Int, UInt64, UInt64) { (family == .ipv4 ? 0 : 1, high, low) }
}

/// What certificates are judged at.
private struct FixedMoment: WallSource {
    let time: WallTime

    func now() -> WallTime { time }
}
