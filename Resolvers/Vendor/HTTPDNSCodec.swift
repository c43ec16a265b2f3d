internal import HTTPDNSJSON
package import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSWire

/// The words of one HTTP-DNS protocol: questions to requests, responses to testimony. No I/O.
package protocol HTTPDNSCodec: Sendable {
    /// The record types that the protocol can ask for; nil means any.
    var supportedTypes: Set<RecordType>? { get }

    /// How its answers are reported to have travelled.
    var answerTransport: AnswerTransport { get }

    /// True when a request holds a secret as it is, so that it must not travel in clear text.
    var sendsSecret: Bool { get }

    /// What fits into one request.
    var batching: Batching { get }

    /// What to ask the service; `now` dates signatures.
    ///
    /// - Throws: ``QueryFailure/unsupportedType(_:)``, ``QueryFailure/misconfigured(_:)``.
    func request(
        for question: Question, now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest

    /// One request for several questions that ``batching`` lets go together: they differ in name and
    /// type alone.
    func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest

    /// What the service said, whatever octets it sent.
    ///
    /// - Throws: ``QueryFailure/httpStatus(_:)``, ``QueryFailure/rejected(code:)``,
    ///   ``QueryFailure/malformed(_:)``.
    func testimony(
        from response: HTTPDNSResponse, for question: Question, source: Testimony.Source
    ) throws(QueryFailure) -> Testimony

    /// What the service said to each question of one request, in their order.
    func testimonies(
        from response: HTTPDNSResponse, for questions: [Question], source: Testimony.Source
    ) -> [Result<Testimony, QueryFailure>]

    /// What may still help when all questions of a request ended in one failure.
    ///
    /// - Parameter response: nil when none came.
    func remedy(for failure: QueryFailure, in response: HTTPDNSResponse?) -> Remedy

    /// True when the answers of this account are encrypted within the body.
    var encryptsAnswers: Bool { get }

    /// What time the service says it is; nil where it does not.
    func serviceTime(in response: HTTPDNSResponse) -> WallTime?

    /// True when a body is of the protocol's form, whatever it says. Where one that cannot be used is so
    /// all the same, what is wrong is what the service knows of that name, and not its server.
    func isLegible(_ response: HTTPDNSResponse) -> Bool

    /// Another way to ask the same server, after an answer that cannot be read; nil when there is none.
    func otherRequest(for questions: [Question]) -> HTTPDNSRequest?
}

/// What fits into one request of a protocol.
package struct Batching: Sendable, Hashable {
    /// How many names, at least 1.
    package let maximumNames: Int
    /// True when A and AAAA of a name are asked and answered together.
    package let joinsFamilies: Bool

    package init(maximumNames: Int, joinsFamilies: Bool) {
        self.maximumNames = max(1, maximumNames)
        self.joinsFamilies = joinsFamilies
    }

    /// One question a request.
    package static let none = Batching(maximumNames: 1, joinsFamilies: false)
}

/// What to do about a failed exchange.
package enum Remedy: Sendable, Hashable {
    /// Asking again would end the same: the failure is the answer.
    case none
    /// Another server of the service may do better.
    case switchServer
    /// The service told its time: date the request by it, and ask once more.
    case correctClock(WallTime)
    /// Nothing but refusals are to be had for so long: do not ask.
    case rest(seconds: Int64)
}

extension HTTPDNSCodec {
    package var batching: Batching { .none }

    package func request(
        for questions: [Question], now: WallTime
    ) throws(QueryFailure) -> HTTPDNSRequest {
        guard let question = questions.first, questions.count == 1 else {
            throw .unexpected("HTTPDNSCodec: \(questions.count) questions for one request")
        }
        return try request(for: question, now: now)
    }

    package func testimonies(
        from response: HTTPDNSResponse, for questions: [Question], source: Testimony.Source
    ) -> [Result<Testimony, QueryFailure>] {
        questions.map { question in
            do throws(QueryFailure) {
                return .success(try testimony(from: response, for: question, source: source))
            } catch {
                return .failure(error)
            }
        }
    }

    package func remedy(for failure: QueryFailure, in response: HTTPDNSResponse?) -> Remedy {
        Remedy.usual(for: failure)
    }

    package var encryptsAnswers: Bool { false }

    package func serviceTime(in response: HTTPDNSResponse) -> WallTime? { nil }

    package func isLegible(_ response: HTTPDNSResponse) -> Bool {
        (try? JSONValue.parse(response.body)) != nil
    }

    package func otherRequest(for questions: [Question]) -> HTTPDNSRequest? { nil }
}

extension Remedy {
    /// Faults of a server are worth another one; a refusal of the request is not.
    static func usual(for failure: QueryFailure) -> Remedy {
        switch failure {
        case .timedOut, .unreachable, .untrusted, .malformed: .switchServer
        case .httpStatus(let status): (500...599).contains(status) ? .switchServer : .none
        default: .none
        }
    }
}

/// A `GET` request, less what the service's identity supplies.
package struct HTTPDNSRequest: Sendable, Hashable {
    /// Path and query.
    package let target: String
    /// The `Accept` field.
    package let accept: String
    /// Fields that the protocol adds.
    package var fields: [Field] = []
    /// What in it is between the account and the service: account, key, signature, nonce, and what the
    /// user wrote into the path. Whoever sees a response sees it without these.
    package var privateValues: [String] = []

    package struct Field: Sendable, Hashable {
        package let name: String
        package let value: String
    }
}

/// The parts of a response that the protocols look at.
package struct HTTPDNSResponse: Sendable, Hashable {
    package let status: Int
    package let contentType: String?
    package let body: [UInt8]
    /// The `Retry-After` field.
    package var retryAfter: String?

    package init(
        status: Int, contentType: String? = nil, body: [UInt8], retryAfter: String? = nil
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.retryAfter = retryAfter
    }

    /// Redirects are not followed: only a 2xx response holds an answer.
    package var isSuccess: Bool { (200...299).contains(status) }

    /// What to say of a body that is not what it should be.
    func malformed(_ what: String) -> QueryFailure {
        guard let contentType else { return .malformed(what) }
        let isHTML = contentType.lowercased().hasPrefix("text/html")
        let hint =
            isHTML ? "; a log-in page of this network, a captive portal, may be answering" : ""
        return .malformed("\(what) (Content-Type \(ServerText.shown(contentType))\(hint))")
    }
}

/// Text from a server, made fit for a message.
enum ServerText {
    /// Printable ASCII in quotes, shortened; anything else as `?`.
    static func shown(_ text: String) -> String {
        let octets = text.utf8.prefix(maximumOctets).map { octet in
            (0x20...0x7E).contains(octet) && octet != 0x22 ? octet : 0x3F
        }
        let rest = text.utf8.count > maximumOctets ? "…" : ""
        return "\"" + String(decoding: octets, as: UTF8.self) + rest + "\""
    }

    /// Because: enough to recognise a value, short enough for one line.
    private static let maximumOctets = 60
}

/// How long an answer holds, as services write it.
enum AnswerLifetime {
    /// For answers without one.
    ///
    /// Source: the Aliyun EMAS SDKs for Android and Go take 60 for a missing or useless `ttl`.
    static let defaultSeconds: UInt32 = 60

    /// A number of seconds, 0 when out of range: not to be kept. Source: RFC 2181 §8.
    static func seconds(_ number: Int64) -> UInt32 {
        (0...Int64(Int32.max)).contains(number) ? UInt32(number) : 0
    }

    /// Decimal digits; nil for other text. Too many of them are out of range, not wrong.
    static func seconds(digits text: some StringProtocol) -> UInt32? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text).map { seconds($0) } ?? 0
    }

    /// The member `ttl` or `TTL`: a number, or digits in a string; the default when it is missing.
    static func seconds(json value: JSONValue?) throws(QueryFailure) -> UInt32 {
        switch value {
        case nil, .null: return defaultSeconds
        case .integer(let number): return seconds(number)
        // Too large for 64 bits, or a fraction: nothing that may be kept.
        case .number: return 0
        case .some(let other):
            guard let text = other.string, let seconds = seconds(digits: text) else {
                throw .malformed("the TTL is \(ServerText.shown(other.description)), not seconds")
            }
            return seconds
        }
    }
}
