internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTransport

// What the head of a response means to the cache.
extension CachedTransfer {
    struct HeadOutcome {
        var phase: Phase
        /// What the listener is told; nil: nothing yet.
        var told: ResponseHead?
        var provenance: CacheProvenance?
        /// The transfer's own body is not wanted, and too long to be read away.
        var leaves = false
    }

    func judge(_ head: ResponseHead) -> HeadOutcome {
        let now = hop.cache.now()
        let (question, isProven, sentAt) = state.withLock {
            ($0.question, $0.isProven, $0.sentAt)
        }
        let delay = max(0, hop.cache.monotonic.now().milliseconds(since: sentAt) / 1_000)
        let moment = Arrival(now: now, delaySeconds: delay, isProven: isProven)
        let changed = Freshening.invalidated(by: head, to: wire.method, hop.url)
        if !changed.isEmpty { hop.cache.remove(changed) }
        if question.conditions != nil, head.status == 304 {
            return confirm(question, by: head, moment)
        }
        if question.conditions != nil || question.found != nil,
            CachedTransfer.troubled.contains(head.status), let answer = hop.fallBack()
        {
            return HeadOutcome(
                phase: .answered(answer), told: answer.head, provenance: answer.provenance,
                leaves: !isShort(head))
        }
        if wire.method == .head { refresh(by: head, moment) }
        return pass(head, moment, remark: question.remark)
    }

    struct Arrival {
        let now: CacheMoment
        let delaySeconds: Int64
        let isProven: Bool
    }

    private var request: CacheRequest {
        CacheRequest(
            method: wire.method, url: hop.url, fields: wire.fields,
            decodesAlways: wire.decodesContent, passesCodings: wire.passesCodings,
            digest: hop.cache.digest)
    }

    /// The policy that the peer proved itself under; nil where it proved nothing.
    private func policy(_ arrival: Arrival) -> [UInt8]? {
        arrival.isProven && !hop.policy.isEmpty ? hop.policy : nil
    }

    /// Source: RFC 9111 §4.3.3. A 304 that names no tag, where several were asked about, could mean
    /// any of them.
    private func confirm(
        _ question: Question, by head: ResponseHead, _ arrival: Arrival
    ) -> HeadOutcome {
        let tag = head.fields.first("ETag").flatMap { EntityTag($0) }
        guard policy(arrival) != nil || hop.policy.isEmpty else {
            return HeadOutcome(phase: .repeating, told: nil)
        }
        if let found = question.found, tag != nil || question.tags.isEmpty,
            let updated = confirmed(found.response, by: head, arrival)
        {
            if let tag, question.tags.contains(tag) {
                freshenOthers(tag, besides: found.response, by: head, arrival)
            }
            let (answer, provenance) = answer(found, updated, by: head, arrival)
            return HeadOutcome(
                phase: .answered(answer), told: answer.head, provenance: provenance)
        }
        guard let tag, question.tags.contains(tag) else {
            return HeadOutcome(phase: .repeating, told: nil)
        }
        return HeadOutcome(phase: .seeking(Sought(tag: tag, head: head, arrival: arrival)))
    }

    private func confirmed(
        _ kept: KeptResponse, by head: ResponseHead, _ arrival: Arrival
    ) -> KeptResponse? {
        Freshening.confirmed(
            kept, by: head, delaySeconds: arrival.delaySeconds, at: arrival.now,
            policy: hop.policy)
    }

    /// What was found answers, freshened by the 304 that is about it.
    private func answer(
        _ found: FoundResponse, _ updated: KeptResponse, by head: ResponseHead,
        _ arrival: Arrival, remark: String? = nil
    ) -> (KeptAnswer, CacheProvenance) {
        if !Freshening.mayStay(found.response, after: head) {
            // It answers once more: its body is open.
            hop.cache.store.remove(found.response)
            hop.release(isOfNoUse: true)
        } else if hop.isOutdated {
            hop.release(isOfNoUse: false)
        } else {
            if !request.directives.noStore { hop.cache.store.update(updated) }
            hop.settle()
        }
        let provenance = CacheProvenance(
            .validated, ageSeconds: updated.ageSeconds(at: arrival.now), remark: remark)
        let answer = hop.answer(
            found,
            KeptFields.delivered(updated, for: hop.url, ageSeconds: nil, news: head.fields),
            provenance)
        return (answer, provenance)
    }

    /// The other variants with that tag are as fresh as the one that was asked about. Source: RFC
    /// 9111 §4.3.4.
    private func freshenOthers(
        _ tag: EntityTag, besides answered: KeptResponse, by head: ResponseHead,
        _ arrival: Arrival
    ) {
        guard let key = CacheKey(hop.url), !request.directives.noStore else { return }
        let (rules, request, policy) = (hop.rules(at: arrival.now), request, hop.policy)
        hop.cache.store.revise(key) { [ticket = hop.ticket] variants in
            // Asked here, in the store's order: what is there after a change is of after it.
            ticket?.isOutdated ?? true
                ? [] : rules.alsoNamed(tag, among: variants, besides: answered, for: request)
        } _: { kept in
            guard Freshening.mayStay(kept, after: head) else { return kept }
            return Freshening.confirmed(
                kept, by: head, delaySeconds: arrival.delaySeconds, at: arrival.now,
                policy: policy) ?? kept
        }
    }

    /// The variant that a 304 named, which is not the one that was asked about.
    struct Sought: Sendable {
        let tag: EntityTag
        let head: ResponseHead
        let arrival: Arrival
    }

    /// Looks for the variant that is meant, now that nothing more comes.
    func seek(_ sought: Sought, after result: Result<TransferFacts, TransportFailure>) {
        guard case .success = result, let key = CacheKey(hop.url) else {
            return listener.finished(result)
        }
        state.withLock { $0.phase = .searching }
        let (rules, request) = (hop.rules(at: sought.arrival.now), request)
        hop.cache.store.find(key) { variants in
            rules.named(sought.tag, among: variants, for: request)
        } _: { found in
            guard !self.state.withLock({ $0.isCancelled }), let found,
                let updated = self.confirmed(found.response, by: sought.head, sought.arrival)
            else { return self.askAgain(after: result) }
            self.freshenOthers(
                sought.tag, besides: found.response, by: sought.head, sought.arrival)
            let (answer, provenance) = self.answer(
                found, updated, by: sought.head, sought.arrival, remark: "another_variant")
            self.note(provenance)
            self.listener.received(answer.head)
            self.pour(answer, after: result)
        }
    }

    /// What is kept is confirmed by the answer to a `HEAD`, or is out of date. Source: RFC 9111
    /// §4.3.5.
    private func refresh(by head: ResponseHead, _ arrival: Arrival) {
        let (request, policy) = (request, policy(arrival) ?? [])
        guard head.status == 200, hop.mode != .none, !request.directives.noStore,
            let key = CacheKey(hop.url)
        else { return }
        let rules = hop.rules(at: arrival.now)
        hop.cache.store.revise(key) { [ticket = hop.ticket] variants in
            // As where a 304 freshens.
            ticket?.isOutdated ?? true
                ? [] : rules.choose(variants, for: request).map { [$0] } ?? []
        } _: { kept in
            Freshening.refreshed(
                kept, byHead: head, delaySeconds: arrival.delaySeconds, at: arrival.now,
                policy: policy)
        }
    }

    private func pass(
        _ head: ResponseHead, _ arrival: Arrival, remark: String?
    ) -> HeadOutcome {
        let circumstances = StorageRules.Circumstances(
            mode: hop.mode, policy: policy(arrival),
            keepsPlainHTTP: hop.cache.settings.keepsPlainHTTP,
            usesCredentials: wire.authorization != nil,
            largestBodyOctets: hop.cache.settings.largestBodyOctets)
        guard hop.mode != .none else {
            return HeadOutcome(phase: .passing(nil), told: head)
        }
        do throws(StorageRules.Refusal) {
            let variant = try StorageRules.check(head, to: request, circumstances)
            guard let key = CacheKey(hop.url) else {
                return HeadOutcome(phase: .passing(nil), told: head)
            }
            let response = KeptResponse(
                key: key, variant: variant, head: head, receivedAt: arrival.now,
                initialAgeSeconds: Freshness.initialAgeSeconds(
                    head.fields, delaySeconds: arrival.delaySeconds, receivedAt: arrival.now),
                policy: hop.policy)
            let keeper = hop.cache.store.keep(response) { [weak self] in self?.hasRoom() }
            guard !hop.isOutdated else {
                keeper.abandon()
                throw .outdated
            }
            state.withLock { $0.mayFinish = CachedTransfer.redirecting.contains(head.status) }
            if !ReuseRules.isUseful(response) { hop.release(isOfNoUse: true) }
            return HeadOutcome(
                phase: .passing(keeper), told: head,
                provenance: CacheProvenance(.missed, remark: remark))
        } catch {
            forget(head, because: error)
            hop.release(isOfNoUse: error != .outdated)
            return HeadOutcome(
                phase: .passing(nil), told: head,
                provenance: CacheProvenance(.missed, remark: error.rawValue))
        }
    }

    /// The origin now forbids what it allowed before: what is kept goes.
    private func forget(_ head: ResponseHead, because refusal: StorageRules.Refusal) {
        let directives = CacheDirectives(ofResponse: head.fields)
        // Parts and answers to the caller's own conditions are refused for what they are.
        let isBarred = directives.noStore && !directives.has("must-understand")
        guard isBarred || [.noStore, .vary, .notUnderstood].contains(refusal),
            (200...499).contains(head.status),
            wire.method == .get, !request.directives.noStore, let key = CacheKey(hop.url)
        else { return }
        hop.cache.store.remove([key])
    }

    private func isShort(_ head: ResponseHead) -> Bool {
        head.fields.first("Content-Length").flatMap { Int64($0) }.map {
            (0...RedirectOffer.mostDrainedOctets).contains($0)
        } ?? false
    }

    /// Source: RFC 9110 §15.4.
    private static let redirecting: Set<Int> = [301, 302, 303, 307, 308]
    /// What a kept response may stand in for. Source: RFC 5861 §4.
    private static let troubled: Set<Int> = [500, 502, 503, 504]
}
