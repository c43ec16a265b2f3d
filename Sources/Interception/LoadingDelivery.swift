internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

// What becomes of an exchange's events, on the work queue.
extension Loading {
    func deliver(_ event: Event) {
        guard !isDone else { return }
        guard let owner else { return stop() }
        switch event {
        case .redirect(let offer, let question): ask(offer, question)
        case .head(let head): received(head)
        case .body(let octets):
            let count = octets.count
            let counts = state.withLock { state in
                state.room = count
                return state.progress.counts
            }
            // Whoever is handed them finds them counted.
            TaskInternals.set(counts, of: task)
            owner.receive(octets)
            delegates.afterTold { self.change { $0.pending -= count } }
        case .progress: delegates.tell(state.withLock { $0.progress.takeNews() })
        case .ended(.success(let delivery)): finish(delivery, owner)
        case .ended(.failure(let error)):
            close()
            owner.fail(error)
        }
    }

    private func finish(_ delivery: Delivery, _ owner: HTTPDNSURLProtocol) {
        // What the application reads in its callback; a delegate was told in between.
        let last = state.withLock { $0.progress.isPosted ? $0.progress.takeNews() : nil }
        if let last { TaskInternals.set(last.counts, of: task) }
        // Whoever hears of the end may look at once.
        let progress = task.progress
        if let last { last.counts.show(on: progress) }
        if progress.totalUnitCount < 0 {
            progress.totalUnitCount = max(progress.completedUnitCount, 1)
        }
        progress.completedUnitCount = progress.totalUnitCount
        close()
        switch delivery {
        case .told: owner.finish()
        case .whole(let data):
            if !data.isEmpty { owner.receive(data) }
            owner.finish()
        case .file(let file): finish(file.handOver(), owner)
        }
    }

    private func finish(_ file: URL, _ owner: HTTPDNSURLProtocol) {
        guard TaskInternals.set(temporaryFile: file, of: owner) else {
            try? FileManager.default.removeItem(at: file)
            let fault = LoadingFault.missingInternal("the place for the file of a download")
            return owner.fail(fault.urlError(task.originalRequest?.url))
        }
        owner.finish()
        guard case .download(isKept: false) = style else { return }
        delegates.afterTold { try? FileManager.default.removeItem(at: file) }
    }

    // MARK: Heads

    private func received(_ head: ResponseHead) {
        guard head.status == 401 else { return handOver(head) }
        let plan = state.withLock { $0.plan }
        let next = authentication.next(head, to: sentHead)
        guard !plan.body.isStream || delegates.supply != nil else { return handOver(head) }
        switch next {
        case .deliver: handOver(head)
        case .meet(let question, let credential):
            state.withLock { $0.isAsking = true }
            meet(question, with: credential, head)
        case .ask(let questions):
            state.withLock { $0.isAsking = true }
            let response = ResponseWriting.response(head, isFinal: false)
            let asking = ChallengeAsking(delegates: delegates, response: response) { answer in
                self.onWorkQueue { self.answered(answer, head) }
            }
            asking.ask(questions[...])
        }
    }

    private func answered(_ answer: ChallengeAsking.Answer, _ head: ResponseHead) {
        switch answer {
        case .cancel: delegates.cancelTask()
        case .deliver: handOver(head)
        case .use(let credential, let question):
            guard meet(question, with: credential, head) else { return }
            authentication.uses(credential, for: question)
        }
    }

    /// False where that credential cannot travel: the 401 is handed over.
    @discardableResult private func meet(
        _ question: Authentication.Question, with credential: URLCredential, _ head: ResponseHead
    ) -> Bool {
        var plan = state.withLock { $0.plan }
        guard let user = credential.user, let password = credential.password,
            let credentials = OriginCredentials(
                user, Secret(password), by: question.way, for: sentHead.url.origin)
        else {
            handOver(head)
            return false
        }
        plan.request.credentials = credentials
        plan.request.head.url = plan.request.head.url.withoutUserinfo
        again(plan, after: head) { self.handOver(head) }
        return true
    }

    /// Sends the request again with its whole body, where there is one.
    ///
    /// - Parameter orElse: runs on the work queue where nobody gives its stream again.
    private func again(
        _ plan: Plan, after head: ResponseHead, orElse: @escaping @Sendable () -> Void
    ) {
        guard plan.body.isStream, let supply = delegates.supply else {
            return begin(plan, insteadDraining: Loading.drains(head))
        }
        supply { stream in
            self.onWorkQueue {
                guard let stream else { return orElse() }
                var plan = plan
                plan.stream = stream
                self.begin(plan, insteadDraining: Loading.drains(head))
            }
        }
    }

    /// True where reading the body away costs less than another connection.
    private static func drains(_ head: ResponseHead) -> Bool {
        guard head.version != .http2, let count = ResponseWriting.bodyOctets(head) else {
            return false
        }
        return count <= RedirectOffer.mostDrainedOctets
    }

    private func handOver(_ head: ResponseHead) {
        let known = first.url == head.url ? first.shown : nil
        guard let owner, let response = ResponseWriting.response(head, at: known) else {
            return fail(
                URLError.make(.cannotParseResponse, nil, "Foundation refuses this response"))
        }
        authentication.settle(head, task: task)
        let counts = state.withLock { state in
            state.progress.expect(toReceive: ResponseWriting.bodyOctets(head))
            return state.progress.counts
        }
        guard case .delegate = style, let delegate = delegates.ofData,
            let dataTask = task as? URLSessionDataTask,
            TaskInternals.set(response, of: task)
        else {
            owner.receive(response)
            return change { $0.isAsking = false }
        }
        // Whoever is told of a response may ask its task how much is to come.
        TaskInternals.set(counts, of: task)
        state.withLock { $0.isAsking = true }
        let asked = Box((delegate, dataTask, response))
        let question = OpenQuestion<URLSession.ResponseDisposition>(
            { self.answered($0) }, whenLetGo: { self.answered(.cancel) })
        delegates.onQueue { [session] in
            asked.value.0.urlSession(
                session, dataTask: asked.value.1, didReceive: asked.value.2
            ) { disposition in
                question.answer { disposition }
            }
        }
    }

    /// Ends the task; on the work queue.
    private func fail(_ error: URLError) {
        stop()
        owner?.fail(error)
    }

    /// From any thread.
    private func answered(_ disposition: URLSession.ResponseDisposition) {
        switch disposition {
        case .allow: change { $0.isAsking = false }
        case .cancel: delegates.cancelTask()
        default:
            end(
                with: .make(
                    .unsupportedURL, task.originalRequest?.url,
                    "a data task cannot become a download here; make a download task"))
        }
    }

    // MARK: Redirects

    private func ask(_ offer: RedirectOffer, _ question: OpenQuestion<RedirectAnswer>) {
        authentication.settle(offer.response, task: task)
        // Where a rule mapped the request, the URL that was asked.
        let before = state.withLock { state in
            var head = state.plan.request.head
            head.url = offer.response.url
            return head
        }
        RedirectAsking(delegates: delegates).ask(offer) { chosen in
            switch chosen {
            case .deliver: question.answer { .deliver }
            case .follow:
                self.state.withLock { $0.follow(offer) }
                question.answer { .follow }
            case .cancel: self.delegates.cancelTask()
            case .change(let request, let shown):
                let changed = ChangedRedirect(
                    offer: offer, before: before, shown: shown,
                    toASCII: self.installation.client.parts.toASCII)
                self.onWorkQueue { self.change(changed, to: request, question) }
            }
        }
    }

    /// Another exchange follows, as after a challenge: the redirect's answer is taken, and shown to
    /// nobody.
    private func change(
        _ changed: ChangedRedirect, to chosen: URLRequest,
        _ question: OpenQuestion<RedirectAnswer>
    ) {
        let offer = changed.offer
        let (begun, exchange) = state.withLock { state in
            state.follow(offer)
            state.isAsking = true
            return (state.plan, state.exchange)
        }
        var plan = begun
        let report = exchange?.report ?? ExchangeReport()
        question.answer { .deliver }
        do throws(ChangedRedirect.Fault) {
            plan.request.head = try changed.head(
                chosen, allowsDowngrade: plan.request.redirects.allowsDowngrade)
            plan.stream = nil
            do throws(LoadingFault) {
                if let body = try changed.body(chosen, plan.request.head) {
                    plan.body = body
                    begin(plan, insteadDraining: Loading.drains(offer.response))
                } else {
                    let url = plan.request.head.url
                    again(plan, after: offer.response) {
                        self.refuse(.spent(url), chosen, offer, report)
                    }
                }
            } catch { throw .unreadable(error) }
        } catch {
            refuse(error, chosen, offer, report)
        }
    }

    private func refuse(
        _ fault: ChangedRedirect.Fault, _ chosen: URLRequest, _ offer: RedirectOffer,
        _ report: ExchangeReport
    ) {
        let cause: ExchangeFailure.Cause
        switch fault {
        case .unreadable(let fault): return fail(fault.urlError(chosen.url))
        case .refused(let fault): cause = .redirectRefused(fault)
        case .spent(let url): cause = .bodyNotReplayable(to: url)
        }
        fail(ExchangeFailure(cause, url: offer.response.url, report: report).urlError)
    }
}

extension Loading.State {
    /// What an exchange that takes over from here has to send, and how many redirects are left.
    fileprivate mutating func follow(_ offer: RedirectOffer) {
        plan.request.redirects.visited.append(plan.request.head.url)
        plan.request.head = offer.step.head
        if !offer.step.keepsBody { plan.body = .none }
        plan.request.redirects.followed += 1
        // It met a challenge, and the next hop's server may have another.
        if case .digest = plan.request.credentials?.way { plan.request.credentials = nil }
    }
}
