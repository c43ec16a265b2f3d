internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport
internal import HTTPDNSWire

/// One request to a service, until it is answered, refused, or out of time: which server, dated by
/// which clock, whether at all.
final class ServiceExchange: Sendable {
    typealias Outcome = Result<Testimony, QueryFailure>

    private struct State {
        /// How far the service's clock is ahead of ours, where it has told its time.
        var clockOffsetSeconds: Int64 = 0
        var rest: Rest?
    }

    /// No request goes out before `until`.
    private struct Rest {
        let until: Monotonic
        /// What every question is answered meanwhile; nil for "resting".
        let failure: QueryFailure?
    }

    private let label: String
    private let codec: any HTTPDNSCodec
    private let service: HTTPService
    private let transport: Transport
    private let servers: any ServerDirectory
    private let settings: HTTPDNSBackend.Settings
    private let state = Locked(State())

    init(
        label: String, codec: any HTTPDNSCodec, service: HTTPService, transport: Transport,
        settings: HTTPDNSBackend.Settings
    ) {
        self.label = label
        self.codec = codec
        self.service = service
        self.transport = transport
        self.settings = settings
        servers =
            settings.servers
            ?? FixedServers(
                service.route.addresses.map { Endpoint(address: $0, port: service.route.port) })
    }

    var isAuthenticated: Bool { service.isAuthenticated }
    var isLocal: Bool { servers.isLocal }

    /// Connections, and what servers are near, belong to the network that was left.
    func networkDidChange() {
        servers.networkChanged()
        transport.leaveConnections()
    }

    /// An outcome for each question, in their order.
    ///
    /// What an answer for several names does not speak of is asked again, each name alone: a service
    /// that leaves a name or a family out of a batch may know it all the same.
    func ask(
        _ questions: [Question], deadline: Monotonic, telling observer: ReplyObserver? = nil
    ) async -> [Outcome] {
        var outcomes = await askTogether(questions, deadline, observer)
        guard Set(questions.map(\.name)).count > 1 else { return outcomes }
        let open = questions.indices.filter { outcomes[$0] == .failure(.notCovered) }
        let names = Dictionary(grouping: open) { questions[$0].name }
        await withTaskGroup(of: [(Int, Outcome)].self) { group in
            for places in names.values {
                group.addTask {
                    let alone = await self.askTogether(
                        places.map { questions[$0] }, deadline, observer)
                    return Array(zip(places, alone))
                }
            }
            for await found in group {
                for (place, outcome) in found { outcomes[place] = outcome }
            }
        }
        return outcomes
    }

    private func askTogether(
        _ questions: [Question], _ deadline: Monotonic, _ observer: ReplyObserver?
    ) async -> [Outcome] {
        do throws(QueryFailure) {
            return try await outcomes(
                of: Attempt(questions: questions, observer: observer), deadline: deadline)
        } catch {
            return questions.map { _ in .failure(error) }
        }
    }

    /// How many requests one question may cost.
    ///
    /// Because: a second server answers for one that is down; were all down, the third would be too.
    private static let maximumAttempts = 3

    /// How long one server has while there is another to ask.
    ///
    /// Because: a healthy one answers in a fraction, and the next must still answer within the 1.5 s
    /// that one source is waited for.
    static let attemptMilliseconds: Int64 = 1_000

    private func outcomes(
        of attempt: Attempt, deadline: Monotonic
    ) async throws(QueryFailure) -> [Outcome] {
        var attempt = attempt
        var last: [Outcome]?
        while true {
            let outcomes: [Outcome]
            do throws(QueryFailure) {
                outcomes = try await attempted(&attempt, deadline: deadline)
            } catch {
                // What the last request ended in says more than why there is no further one.
                guard let last else { throw error }
                return last
            }
            last = outcomes
            guard let failure = Self.commonFailure(outcomes), attempt.mayGoOn,
                settings.clock.now() < deadline, !Task.isCancelled
            else { return outcomes }
            guard try follow(failure, &attempt) else { return outcomes }
        }
    }

    /// What has been tried so far.
    private struct Attempt {
        let questions: [Question]
        /// Sees each response.
        let observer: ReplyObserver?
        var count = 0
        var hasCorrectedClock = false
        /// Asked instead of the codec's own request.
        var otherRequest: HTTPDNSRequest?
        var hasAskedOtherwise = false
        var response: HTTPDNSResponse?
        var serverCount = 1
        /// Servers that gave an answer of no use, without a fault of their own.
        var asked: [Endpoint] = []

        init(questions: [Question], observer: ReplyObserver?) {
            self.questions = questions
            self.observer = observer
        }

        var mayGoOn: Bool { count < ServiceExchange.maximumAttempts }
    }

    /// The failure that all questions ended in; nil when one was answered or they differ.
    private static func commonFailure(_ outcomes: [Outcome]) -> QueryFailure? {
        var common: QueryFailure?
        for outcome in outcomes {
            guard case .failure(let failure) = outcome, common == nil || common == failure else {
                return nil
            }
            common = failure
        }
        return common
    }

    /// Does what the codec advises; true when the question may be asked again.
    private func follow(
        _ failure: QueryFailure, _ attempt: inout Attempt
    ) throws(QueryFailure) -> Bool {
        if case .malformed = failure, !attempt.hasAskedOtherwise,
            attempt.response?.isSuccess == true,
            let other = codec.otherRequest(for: attempt.questions)
        {
            attempt.otherRequest = other
            attempt.hasAskedOtherwise = true
            return true
        }
        attempt.otherRequest = nil
        switch codec.remedy(for: failure, in: attempt.response) {
        case .none, .rest: return false
        case .switchServer: return attempt.serverCount > max(1, attempt.asked.count)
        case .correctClock(let time):
            guard !attempt.hasCorrectedClock else { return false }
            attempt.hasCorrectedClock = true
            let offset = time.secondsSince1970 &- settings.wallClock.now().secondsSince1970
            state.withLock { $0.clockOffsetSeconds = offset }
            return true
        }
    }

    /// One request, and what was learned from it.
    private func attempted(
        _ attempt: inout Attempt, deadline: Monotonic
    ) async throws(QueryFailure) -> [Outcome] {
        attempt.count += 1
        attempt.response = nil
        try checkRest()
        let request: HTTPDNSRequest
        if let other = attempt.otherRequest {
            request = other
        } else {
            request = try self.request(for: attempt.questions)
        }
        let plan = try nextPlan()
        // Another request is for the server that did not understand the first.
        let rest = attempt.otherRequest == nil ? plan.without(attempt.asked) : plan
        guard let route = rest.route, let server = rest.current else {
            throw .misconfigured("the service has no server to ask")
        }
        attempt.serverCount = plan.servers.count
        var end = deadline
        if plan.servers.count > 1, attempt.mayGoOn {
            let limit = settings.clock.now().adding(milliseconds: Self.attemptMilliseconds)
            end = min(end, limit)
        }
        let outcomes: [Outcome]
        do throws(QueryFailure) {
            let (collected, response) = try await response(to: request, at: route, deadline: end)
            attempt.response = response
            attempt.observer?(
                ReplyReport(codec: codec, request: request, questions: attempt.questions)
                    .received(collected, response))
            outcomes = codec.testimonies(
                from: response, for: attempt.questions,
                source: Testimony.Source(
                    resolver: label, transport: codec.answerTransport,
                    server: collected.facts.remote?.description))
            let answering = collected.facts.remote ?? server
            if note(outcomes, response, from: answering) == .useless {
                attempt.asked.append(answering)
            }
        } catch {
            outcomes = attempt.questions.map { _ in .failure(error) }
            if error.isServersOwn { servers.failed(server) }
        }
        return outcomes
    }

    /// Whom to ask, with the account's leave. The leave is asked for first: what rests lets one probe
    /// through, which must not be spent on a request that does not go out.
    private func nextPlan() throws(QueryFailure) -> ServerRotation {
        try settings.quota?.take()
        do throws(QueryFailure) { return try servers.plan() } catch {
            settings.quota?.giveBack()
            throw error
        }
    }

    private func request(for questions: [Question]) throws(QueryFailure) -> HTTPDNSRequest {
        let offset = state.withLock { $0.clockOffsetSeconds }
        let now = settings.wallClock.now().secondsSince1970 &+ offset
        return try codec.request(for: questions, now: WallTime(secondsSince1970: now))
    }

    private func response(
        to request: HTTPDNSRequest, at route: Route, deadline: Monotonic
    ) async throws(QueryFailure) -> (CollectedResponse, HTTPDNSResponse) {
        var call = HTTPService.Call(target: request.target)
        do {
            try call.fields.set("Accept", request.accept)
            for field in request.fields { try call.fields.set(field.name, field.value) }
        } catch {
            throw .misconfigured("a field of the request cannot be sent: \(error)")
        }
        let collected = try await service.at(route).response(
            to: call, over: transport, maximumBodyOctets: Self.maximumBodyOctets,
            deadline: deadline)
        let response = HTTPDNSResponse(
            status: collected.head.status,
            contentType: collected.head.fields.first("Content-Type"), body: collected.body,
            retryAfter: collected.head.fields.first("Retry-After"))
        return (collected, response)
    }

    /// Because: a DNS message has at most 65 535 octets, and its JSON form a few times as many.
    private static let maximumBodyOctets = 262_144
}

// What responses teach
extension ServiceExchange {
    /// What a response says of the server that gave it.
    private enum Standing {
        case well, faulty
        /// It may be well; another may have a better answer.
        case useless
    }

    private func note(
        _ outcomes: [Outcome], _ response: HTTPDNSResponse, from server: Endpoint
    ) -> Standing {
        let standing = standing(outcomes, response)
        switch standing {
        case .well: servers.answered(server)
        case .faulty: servers.failed(server)
        case .useless: break
        }
        return standing
    }

    private func standing(_ outcomes: [Outcome], _ response: HTTPDNSResponse) -> Standing {
        guard let failure = Self.commonFailure(outcomes) else { return .well }
        if let seconds = retrySeconds(response) {
            rest(seconds: seconds, failure: nil)
            return .useless
        }
        switch codec.remedy(for: failure, in: response) {
        // One odd name must not take all servers, and with them the account, away from the others.
        case .switchServer where failure.isMalformed && codec.isLegible(response): return .useless
        case .switchServer: return .faulty
        case .rest(let seconds):
            rest(seconds: seconds, failure: failure)
            return .useless
        // The server answered; what it said is another matter.
        case .none, .correctClock: return .well
        }
    }

    private func rest(seconds: Int64, failure: QueryFailure?) {
        let until = settings.clock.now().adding(seconds: seconds)
        state.withLock { $0.rest = Rest(until: until, failure: failure) }
    }

    private func checkRest() throws(QueryFailure) {
        guard let rest = state.withLock({ $0.rest }) else { return }
        let left = rest.until.millisecondsLeft(from: settings.clock.now())
        guard left > 0 else {
            state.withLock { $0.rest = nil }
            return
        }
        throw rest.failure ?? .resting(milliseconds: left)
    }

    /// The longest rest that a service can ask for.
    ///
    /// Because: a slip of a server must not turn it off for a day.
    static let maximumRestSeconds: Int64 = 3_600

    /// A refusal that says when to come back: in seconds, or a date. Source: RFC 9110 §10.2.3.
    private func retrySeconds(_ response: HTTPDNSResponse) -> Int64? {
        guard response.status == 429 || response.status == 503, let text = response.retryAfter
        else { return nil }
        let seconds: Int64
        if let number = AnswerLifetime.seconds(digits: text) {
            seconds = Int64(number)
        } else if let date = CookieDate.parse(text) {
            seconds = date.secondsSince1970 &- settings.wallClock.now().secondsSince1970
        } else {
            return nil
        }
        return seconds > 0 ? min(seconds, Self.maximumRestSeconds) : nil
    }
}

extension QueryFailure {
    /// True for what came of a request that got no response: the server's fault, or its network's.
    fileprivate var isServersOwn: Bool {
        switch self {
        case .timedOut, .unreachable, .untrusted, .malformed: true
        default: false
        }
    }

    fileprivate var isMalformed: Bool {
        if case .malformed = self { true } else { false }
    }
}
