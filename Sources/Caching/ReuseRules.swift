package import HTTPDNSExchange
internal import HTTPDNSNames

/// Decides what is done about a request: answered with what is kept, validated, or sent. Source:
/// RFC 9111 §4.
///
/// Rules:
/// 1. `GET` and `HEAD` are answered; conditions and ranges of the caller's own go to the origin.
///    Where nothing may be sent, a condition is judged by what is kept (RFC 9111 §4.3.2), and the
///    whole answers for a range.
/// 2. What was kept under another trust policy is not used, nor asked about: a 304 proves a tag, and
///    whoever was believed before chose that tag.
/// 3. `no-cache` of the response, and `must-revalidate` once it is stale, are kept in every mode.
/// 4. Fresh: younger than its lifetime, by `max-age`, `min-fresh` and `max-stale` of the request.
/// 5. ``CacheMode/preferCache`` and ``CacheMode/onlyIfCached`` take what is stale as `max-stale`
///    without a bound does.
/// 6. What came over plain `http` answers only while the application says so.
/// 7. Stale while the origin is in trouble only as long as `stale-if-error` says (RFC 5861 §4), and
///    never because a peer did not prove itself. `stale-while-revalidate` is not used: nothing is
///    sent that nobody waits for.
package struct ReuseRules: Sendable {
    package enum Decision: Sendable, Hashable {
        case answer(CacheProvenance)
        /// Ask the origin with these fields; `onError` is what may answer when that fails.
        case validate(HTTPFields, onError: CacheProvenance?)
        /// Send the request as it is; `onError` is what may answer when that fails.
        case send(remark: String?, onError: CacheProvenance?)
        /// 504. Source: RFC 9111 §5.2.1.7.
        case refuse(remark: String?)
    }

    package let mode: CacheMode
    /// Names the policy of this request; empty for plain `http`.
    package let policy: [UInt8]
    package let now: CacheMoment
    package let keepsPlainHTTP: Bool

    package init(mode: CacheMode, policy: [UInt8], now: CacheMoment, keepsPlainHTTP: Bool) {
        self.mode = mode
        self.policy = policy
        self.now = now
        self.keepsPlainHTTP = keepsPlainHTTP
    }

    /// Nobody proves anything there, and the application did not say that this is well.
    package func isUnproven(_ request: CacheRequest) -> Bool {
        !keepsPlainHTTP && (request.url.origin.scheme == .http || policy.isEmpty)
    }

    /// Nothing may be sent.
    package func isOffline(_ request: CacheRequest) -> Bool {
        mode == .onlyIfCached || (request.directives.onlyIfCached && mode != .none)
    }

    /// Whether it is worth looking for something kept.
    package func looks(_ request: CacheRequest) -> Bool {
        guard request.method == .get || request.method == .head, request.key != nil else {
            return false
        }
        if isOffline(request) { return true }
        return mode != .none && mode != .refresh && !request.hasOwnConditions
    }

    /// The newest of those that answer the request. Source: RFC 9111 §4.1.
    package func choose(
        _ variants: [KeptResponse], for request: CacheRequest
    ) -> KeptResponse? {
        guard !isUnproven(request) else { return nil }
        let fitting = variants.filter { $0.variant.answers(request) }
        return newest(fitting.filter { $0.policy == policy }) ?? newest(fitting)
    }

    func newest(_ variants: [KeptResponse]) -> KeptResponse? {
        variants.max {
            let left = Freshness.date($0.fields, receivedAt: $0.receivedAt)
            let right = Freshness.date($1.fields, receivedAt: $1.receivedAt)
            return (left, $0.number) < (right, $1.number)
        }
    }

    /// Whether an equal request's answer, when it comes, may answer this one. Source: RFC 9111 §4.
    package func joins(_ request: CacheRequest) -> Bool {
        guard request.method == .get, mode == .standard || mode == .preferCache,
            looks(request), !isOffline(request), !isUnproven(request)
        else { return false }
        let asked = request.directives
        guard !asked.noCache, !asked.noStore else { return false }
        switch asked.seconds("max-age") {
        case .number(let most): return most > 0
        case .unbounded, .unusable: return false
        case nil: return true
        }
    }

    /// Whether what has just come answers anybody without being asked about once more.
    package static func isUseful(_ kept: KeptResponse) -> Bool {
        !CacheDirectives(ofResponse: kept.fields).noCache
            && kept.freshness.lifetimeSeconds > kept.initialAgeSeconds
    }

    /// - Parameter others: tags of other variants; see ``otherTags(_:besides:for:)``.
    package func decide(
        _ request: CacheRequest, _ kept: KeptResponse?, others: [EntityTag] = []
    ) -> Decision {
        let isOffline = isOffline(request)
        guard !isUnproven(request) else {
            let remark = StorageRules.Refusal.unproven.rawValue
            return isOffline ? .refuse(remark: remark) : .send(remark: remark, onError: nil)
        }
        guard let kept else {
            if isOffline { return .refuse(remark: "not_kept") }
            guard request.method == .get, let fields = ReuseRules.conditions(nil, others: others)
            else { return .send(remark: nil, onError: nil) }
            return .validate(fields, onError: nil)
        }
        let standing = Standing(kept, request.directives, at: now)
        guard kept.policy == policy else {
            let remark = StorageRules.Refusal.policyChanged.rawValue
            return isOffline ? .refuse(remark: remark) : .send(remark: remark, onError: nil)
        }
        if let use = reuse(standing, request, isOffline: isOffline) { return .answer(use) }
        let remark = standing.obstacle
        if isOffline { return .refuse(remark: remark) }
        // Whether it could have been validated makes no difference here.
        let onError =
            standing.servesOnError
            ? CacheProvenance(.stale, ageSeconds: standing.age, remark: "stale_if_error") : nil
        guard request.method == .get, let fields = ReuseRules.conditions(kept, others: others)
        else { return .send(remark: remark, onError: onError) }
        return .validate(fields, onError: onError)
    }

    private func reuse(
        _ standing: Standing, _ request: CacheRequest, isOffline: Bool
    ) -> CacheProvenance? {
        guard !standing.isForbidden else { return nil }
        let takesAny = isOffline || mode == .preferCache
        if request.directives.noCache, !takesAny { return nil }
        if mode == .validate, !(standing.isImmutable && standing.isFresh) { return nil }
        if standing.isFresh, standing.satisfiesRequest || takesAny {
            return CacheProvenance(.hit, ageSeconds: standing.age)
        }
        guard takesAny || standing.satisfiesRequest else { return nil }
        return CacheProvenance(.stale, ageSeconds: standing.age)
    }

    /// What to ask the origin with; nil where there is no validator. Source: RFC 9111 §4.3.1.
    ///
    /// A response that has a date and no tag is asked about by its date alone, which nobody looks
    /// at beside tags. Source: RFC 9110 §13.1.3.
    package static func conditions(
        _ kept: KeptResponse?, others: [EntityTag] = []
    ) -> HTTPFields? {
        var fields = HTTPFields()
        let date = kept?.lastModified == nil ? nil : kept?.fields.first("Last-Modified")
        let own = kept?.eTag
        var tags = own.map { [$0] } ?? []
        if own != nil || date == nil { tags += others.filter { $0 != own } }
        if !tags.isEmpty {
            try? fields.append("If-None-Match", tags.map(\.text).joined(separator: ", "))
        }
        if let date { try? fields.append("If-Modified-Since", date) }
        return fields.fields.isEmpty ? nil : fields
    }
}

/// How a kept response stands to one request at one moment.
private struct Standing {
    /// Nil: no clock can say.
    let age: Int64?
    let isFresh: Bool
    let isImmutable: Bool
    /// Fresh or stale, within what `max-age`, `min-fresh` and `max-stale` of the request say.
    let satisfiesRequest: Bool
    /// The origin wants to be asked first, whatever the request says.
    let isForbidden: Bool
    /// Within `stale-if-error`.
    let servesOnError: Bool

    init(_ kept: KeptResponse, _ asked: CacheDirectives, at now: CacheMoment) {
        let given = CacheDirectives(ofResponse: kept.fields)
        let lifetime = kept.isOutdated ? 0 : kept.freshness.lifetimeSeconds
        age = kept.ageSeconds(at: now)
        isImmutable = given.isImmutable
        guard let age else {
            (isFresh, satisfiesRequest, servesOnError) = (false, false, false)
            isForbidden = given.noCache || given.mustRevalidate
            return
        }
        let isFresh = lifetime > age
        self.isFresh = isFresh
        isForbidden = given.noCache || (given.mustRevalidate && !isFresh)
        satisfiesRequest = Standing.satisfies(asked, age: age, lifetime: lifetime)
        servesOnError = Standing.serves(
            onError: given, asked, isForbidden: isForbidden, staleness: age - lifetime)
    }

    /// Source: RFC 9111 §5.2.1.1 to §5.2.1.3.
    private static func satisfies(_ asked: CacheDirectives, age: Int64, lifetime: Int64) -> Bool {
        switch asked.seconds("max-age") {
        // What is told in whole seconds is never younger than a moment: who asks for 0 wants the
        // origin asked, within the second in which it came as well.
        case .number(let most): if most == 0 || age > most { return false }
        case .unbounded, .unusable: return false
        case nil: break
        }
        switch asked.seconds("min-fresh") {
        case .number(let least): if lifetime - age < least { return false }
        case .unbounded, .unusable: return false
        case nil: break
        }
        guard lifetime <= age else { return true }
        switch asked.seconds("max-stale") {
        case .number(let most): return age - lifetime <= most
        case .unbounded: return true
        case .unusable, nil: return false
        }
    }

    /// Source: RFC 5861 §4.
    private static func serves(
        onError given: CacheDirectives, _ asked: CacheDirectives, isForbidden: Bool,
        staleness: Int64
    ) -> Bool {
        guard !isForbidden, !asked.noCache else { return false }
        for directives in [given, asked] {
            if case .number(let most)? = directives.seconds("stale-if-error"), staleness <= most {
                return true
            }
        }
        return false
    }

    /// Why it does not answer: a bounded label.
    var obstacle: String {
        if isForbidden { return "must_validate" }
        return isFresh ? "validation_asked" : "not_fresh"
    }
}
