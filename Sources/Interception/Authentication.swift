internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSNames

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// What one task knows of the challenges it met, and how it means to meet the next one. On the work
/// queue.
///
/// Rules:
/// 1. A credential that was refused is not proposed again for its protection space, whatever was tried
///    in between; each refusal counts for its space.
/// 2. What another origin or realm asks says nothing of the credential that was used before: where a
///    redirect leads back, it is proposed again.
/// 3. Credentials belong to the origin that asked; nothing is sent to another.
/// 4. What worked is given to the session's storage, which keeps it as the credential itself says: at
///    the next redirect of that origin, or at its last answer.
/// 5. A Digest meets one challenge. The next of the same realm is met with the same credential, and
///    nobody is asked, where the server calls the nonce stale (three times in turn at most), and where
///    the challenge before was met and led on.
struct Authentication {
    /// Because: as many as redirects; a delegate that gives the same wrong password for ever ends.
    private static let maximumRounds = 20

    /// Because: a nonce that grew old on the way (RFC 7616 §3.3), and one more.
    private static let maximumStaleNonces = 3

    private struct Used {
        let space: URLProtectionSpace
        let credential: URLCredential
        let scheme: AuthenticationChallenge.Scheme
    }

    private struct Refused: Hashable {
        let space: SpaceKey
        let user: String?
        let password: String?

        init(_ credential: URLCredential, _ space: URLProtectionSpace) {
            self.space = SpaceKey(space)
            user = credential.user
            password = credential.password
        }
    }

    /// What makes two protection spaces one: on this platform no two are ever equal.
    private struct SpaceKey: Hashable {
        let host: String
        let port: Int
        let scheme: String?
        let realm: String?
        let method: String

        init(_ space: URLProtectionSpace) {
            host = space.host.lowercased()
            port = space.port
            scheme = space.protocol?.lowercased()
            realm = space.realm
            method = space.authenticationMethod
        }

        /// Whatever the scheme: a server may offer another one after a refusal.
        func isSameRealm(as other: SpaceKey) -> Bool {
            host == other.host && port == other.port && scheme == other.scheme
                && realm == other.realm
        }

        func isOf(_ origin: Origin) -> Bool {
            host == origin.hostText.lowercased() && port == Int(origin.port.number)
                && scheme == origin.scheme.rawValue
        }
    }

    private let storage: URLCredentialStorage?
    private var failures: [SpaceKey: Int] = [:]
    private var refused: Set<Refused> = []
    private var rounds = 0
    /// What the exchange that runs was begun with.
    private var used: Used?
    /// It has worked, and was given to the storage.
    private var isKept = false
    /// Of what is used, in turn.
    private var staleNonces = 0
    /// User and password of the URL, and whether they were sent as Basic credentials.
    private let ofURL: (origin: Origin, user: String, password: Secret)?
    private var isURLTried = false

    init(storage: URLCredentialStorage?, first url: HTTPURL) {
        self.storage = storage
        ofURL = OriginCredentials.userinfo(of: url).map { (url.origin, $0.user, $0.password) }
    }

    /// A challenge, as a delegate is asked about it.
    struct Question {
        let way: AuthenticationChallenge.Way
        let space: URLProtectionSpace
        let proposed: URLCredential?
        let failures: Int
    }

    /// What is to be done about a 401.
    enum Next {
        /// It is the application's own business.
        case deliver
        /// To be asked about in that order.
        case ask([Question])
        /// The same credential, for another nonce.
        case meet(Question, URLCredential)
    }

    /// - Parameter request: the one that was answered.
    mutating func next(_ head: ResponseHead, to request: RequestHead) -> Next {
        guard head.status == 401, !request.fields.contains("Authorization"),
            rounds < Authentication.maximumRounds
        else { return .deliver }
        rounds += 1
        let asked = AuthenticationChallenge.all(in: head.fields, canCompute: \.isAvailable).map {
            ($0, Authentication.space($0, request.url.origin))
        }
        if let next = nextNonce(asked) { return next }
        let questions = questions(asked, to: request)
        return questions.isEmpty ? .deliver : .ask(questions)
    }

    /// Nil where the challenge says something else than that its nonce is another.
    private mutating func nextNonce(
        _ asked: [(AuthenticationChallenge, URLProtectionSpace)]
    ) -> Next? {
        guard let used, used.scheme == .digest else { return nil }
        for (challenge, space) in asked where SpaceKey(space) == SpaceKey(used.space) {
            guard case .digest(let digest) = challenge.way, isKept || digest.isStale else {
                continue
            }
            if !isKept {
                staleNonces += 1
                guard staleNonces < Authentication.maximumStaleNonces else { return .deliver }
            }
            isKept = false
            let question = Question(
                way: challenge.way, space: space, proposed: used.credential,
                failures: failures[SpaceKey(space)] ?? 0)
            return .meet(question, used.credential)
        }
        return nil
    }

    private mutating func questions(
        _ asked: [(AuthenticationChallenge, URLProtectionSpace)], to request: RequestHead
    ) -> [Question] {
        let isFromURL = used == nil && request.url.userinfo != nil
        if let used, asked.contains(where: { SpaceKey($1).isSameRealm(as: SpaceKey(used.space)) }) {
            refused.insert(Refused(used.credential, used.space))
        }
        return asked.map { challenge, space in
            let key = SpaceKey(space)
            if used.map({ SpaceKey($0.space) }) == key || (isFromURL && challenge.scheme == .basic)
            {
                failures[key, default: 0] += 1
            }
            return Question(
                way: challenge.way, space: space,
                proposed: proposal(space, challenge.scheme, request.url.origin),
                failures: failures[key] ?? 0)
        }
    }

    /// The exchange that follows is begun with this.
    mutating func uses(_ credential: URLCredential, for question: Question) {
        used = Used(space: question.space, credential: credential, scheme: question.way.scheme)
        isKept = false
        staleNonces = 0
        if let ofURL, credential.user == ofURL.user,
            credential.password == ofURL.password.revealed
        {
            isURLTried = true
        }
    }

    /// An answer is handed over, or redirects: unless it is a 401, what was used has worked.
    mutating func settle(_ head: ResponseHead, task: URLSessionTask) {
        guard head.status != 401, let used, !isKept, SpaceKey(used.space).isOf(head.url.origin)
        else { return }
        isKept = true
        staleNonces = 0
        guard let storage else { return }
        let known = Authentication.entry(storage, used.space)?.space
        storage.set(used.credential, for: known ?? used.space, task: task)
    }

    private func proposal(
        _ space: URLProtectionSpace, _ scheme: AuthenticationChallenge.Scheme, _ origin: Origin
    ) -> URLCredential? {
        if let ofURL, ofURL.origin == origin, scheme == .digest, !isURLTried {
            return URLCredential(
                user: ofURL.user, password: ofURL.password.revealed, persistence: .none)
        }
        guard let storage, let (known, credentials) = Authentication.entry(storage, space) else {
            return nil
        }
        let stored =
            storage.defaultCredential(for: known)
            ?? credentials.sorted { $0.key < $1.key }.first?.value
        guard let stored, stored.hasPassword, !refused.contains(Refused(stored, space)) else {
            return nil
        }
        return stored
    }

    /// What a storage keeps for a space, under its own object for it.
    private static func entry(
        _ storage: URLCredentialStorage, _ space: URLProtectionSpace
    ) -> (space: URLProtectionSpace, credentials: [String: URLCredential])? {
        let key = SpaceKey(space)
        return storage.allCredentials.first { SpaceKey($0.key) == key }
            .map { ($0.key, $0.value) }
    }

    private static func space(
        _ challenge: AuthenticationChallenge, _ origin: Origin
    ) -> URLProtectionSpace {
        URLProtectionSpace(
            host: origin.hostText, port: Int(origin.port.number),
            protocol: origin.scheme.rawValue, realm: challenge.realm,
            authenticationMethod: challenge.scheme == .digest
                ? NSURLAuthenticationMethodHTTPDigest : NSURLAuthenticationMethodHTTPBasic)
    }
}

extension Origin {
    /// The host as Foundation spells it: an IPv6 address without brackets.
    fileprivate var hostText: String { host.description }
}

/// Asks the application about the challenges of one answer.
struct ChallengeAsking: @unchecked Sendable {
    // Safety: made on the work queue, then used on the delegate queue alone, one question at a time.
    enum Answer: @unchecked Sendable {
        // Safety: a credential does not change once it is made.
        /// Hand the 401 over.
        case deliver
        case cancel
        case use(URLCredential, Authentication.Question)
    }

    let delegates: Delegates
    let response: HTTPURLResponse?
    let answer: @Sendable (Answer) -> Void

    /// Asks about the first question, and about the next where the delegate rejects it. Without a
    /// delegate, or where it asks for the default, the first of the questions that are left for which
    /// there is a credential is met with it.
    func ask(_ questions: ArraySlice<Authentication.Question>) {
        guard let question = questions.first else { return answer(.deliver) }
        if let delegate = delegates.ofTask {
            let asked = Box(question)
            delegates.onQueue { [self] in
                delegate.urlSession(
                    delegates.session, task: delegates.task,
                    didReceive: challenge(asked.value),
                    completionHandler: hear(Box(questions)))
            }
        } else if let delegate = delegates.session.delegate {
            let asked = Box(question)
            delegates.onQueue { [self] in
                delegate.urlSession(
                    delegates.session, didReceive: challenge(asked.value),
                    completionHandler: hear(Box(questions)))
            }
        } else {
            takeProposed(questions)
        }
    }

    /// - Parameter questions: those that are left; the delegate answers the first.
    private func hear(
        _ questions: Box<ArraySlice<Authentication.Question>>
    ) -> @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void {
        typealias Said = Box<(URLSession.AuthChallengeDisposition, URLCredential?)>
        let question = OpenQuestion<Said>(
            { hear($0.value.0, $0.value.1, questions.value) }, whenLetGo: { answer(.cancel) })
        return { disposition, credential in
            question.answer { Box((disposition, credential)) }
        }
    }

    private func hear(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?,
        _ questions: ArraySlice<Authentication.Question>
    ) {
        switch disposition {
        case .useCredential:
            guard let credential, let question = questions.first else {
                return answer(.deliver)
            }
            answer(.use(credential, question))
        case .performDefaultHandling: takeProposed(questions)
        case .cancelAuthenticationChallenge: answer(.cancel)
        case .rejectProtectionSpace: ask(questions.dropFirst())
        }
    }

    private func takeProposed(_ questions: ArraySlice<Authentication.Question>) {
        for question in questions {
            guard let proposed = question.proposed else { continue }
            return answer(.use(proposed, question))
        }
        answer(.deliver)
    }

    private func challenge(_ question: Authentication.Question) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: question.space, proposedCredential: question.proposed,
            previousFailureCount: question.failures, failureResponse: response, error: nil,
            sender: NobodyToTell())
    }
}

/// The sender of a challenge: what URLSession hears is the completion handler.
private final class NobodyToTell: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
