import HTTPDNS
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTrust
import HTTPDNSWire
import Testing

/// A provider as an application has it, and where the fixture speaks its protocol.
struct FixtureCase: Sendable, CustomTestStringConvertible {
    let title: String
    let provider: String
    let path: String
    var account: String?
    var secret: String?
    var key: String?
    var encryption: ResolverDescription.NameEncryption?
    var usesPOST = false
    var shape = LabJSONShape.google
    /// What is answered for at all.
    var types: [RecordType] = [.a, .aaaa]
    /// Whether the service is told for whom to answer; and says for whom it did.
    var hearsClient = true
    var tellsClient = true
    /// Whether the service is passed parameters of its customer.
    var hearsParameters = false
    /// Whether answers say how long they hold.
    var tellsTTL = true
    /// What a wrong secret, an unknown account, and a clock that is hours off end in.
    var wrongSecret: String?
    var unknownAccount: String?
    var wrongClock: String?

    var testDescription: String { title }

    init(
        _ title: String, _ provider: String, _ path: String = "",
        _ change: (inout FixtureCase) -> Void = { _ in }
    ) {
        self.title = title
        self.provider = provider
        self.path = path
        change(&self)
    }

    /// How the provider is named to the library, at the fixture.
    func description(
        at server: LabHTTPDNSServer, _ change: (inout ResolverDescription) -> Void = { _ in }
    ) throws -> ResolverDescription {
        var description = try ResolverDescription(provider)
        description.account = account
        description.secret = secret.map { Secret($0) }
        description.key = key.map { Secret($0) }
        description.encryption = encryption
        description.usesPOST = usesPOST
        description.endpoint = try HTTPURL("https://127.0.0.1:\(server.port)\(path)")
        change(&description)
        return description
    }

    /// All that the accounts below have to hide.
    static let secrets = [
        "00112233445566778899aabbccddeeff", "0f0e0d0c0b0a09080706050403020100", "dnspodpass",
        "0123456789abcdef", "800654663", "SECRET", "QlgAuFMwNUwN", "1234567890", "accountKey",
        "ucloud-secret", "oB1q6EF8rGUpd1qxBtcm", "IAmASecret",
    ]

    static let all = aliyun + tencent + templates + others + dns

    private static let aliyun =
        [
            FixtureCase("aliyun", "aliyun") {
                $0.account = "139450"
                $0.hearsParameters = true
                $0.unknownAccount = "rejected InvalidAccount"
            },
            FixtureCase("aliyun signed", "aliyun") {
                ($0.account, $0.secret) = ("7", "IAmASecret")
                $0.hearsParameters = true
                $0.unknownAccount = "rejected InvalidAccount"
                $0.wrongSecret = "rejected InvalidSignature"
                $0.wrongClock = "rejected SignatureExpired"
            },
        ]
        + [ResolverDescription.NameEncryption.none, .aesCBC, .aesGCM].map { encryption in
            FixtureCase("aliyun-v2 \(encryption)", "aliyun-v2") {
                ($0.account, $0.secret) = ("100000", "00112233445566778899aabbccddeeff")
                if encryption != .none { $0.key = "0f0e0d0c0b0a09080706050403020100" }
                $0.encryption = encryption
                $0.hearsParameters = true
                $0.unknownAccount = "rejected InvalidAccount"
                $0.wrongSecret = "rejected InvalidSignature"
                $0.wrongClock = "rejected SignatureExpired"
            }
        }

    private static let tencent = [
        FixtureCase("dnspod-free", "dnspod-free", "/d"),
        FixtureCase("dnspod token", "dnspod", "/d") { $0.key = "800654663" },
        FixtureCase("dnspod-des", "dnspod-des", "/d") {
            ($0.account, $0.key) = ("1", "dnspodpass")
            $0.unknownAccount = "status 401"
        },
        FixtureCase("dnspod-aes", "dnspod-aes", "/d") {
            ($0.account, $0.key) = ("2", "0123456789abcdef")
            $0.unknownAccount = "status 401"
        },
    ]

    private static let templates =
        [
            FixtureCase("alidns-paid", "alidns-paid") { $0.tellsClient = false },
            FixtureCase("alidns-short", "alidns-short") {
                ($0.tellsClient, $0.tellsTTL) = (false, false)
            },
        ].map { item in
            var item = item
            (item.account, item.secret, item.key) = ("100001", "SECRET", "AKID")
            item.unknownAccount = "rejected InvalidAccount"
            item.wrongSecret = "rejected InvalidSignature"
            item.wrongClock = "rejected SignatureExpired"
            return item
        } + [
            FixtureCase("qiniu", "qiniu") {
                ($0.account, $0.secret) = ("q", "accountKey")
                $0.unknownAccount = "rejected InvalidSignature"
                $0.wrongSecret = "rejected InvalidSignature"
                $0.wrongClock = "rejected SignatureExpired"
            },
            FixtureCase("ucloud", "ucloud") {
                ($0.account, $0.secret) = ("u/a1", "ucloud-secret")
                $0.types = [.a]
                $0.hearsClient = false
                $0.unknownAccount = "rejected UNAUTHORIZED"
                $0.wrongSecret = "rejected UNAUTHORIZED"
                $0.wrongClock = "rejected UNAUTHORIZED"
            },
            FixtureCase("wangsu", "wangsu") {
                $0.types = [.a]
                $0.tellsClient = false
            },
        ]
        + ["yunaq", "yunaq-text", "yunaq-encrypted"].map { provider in
            FixtureCase(provider, provider) {
                ($0.account, $0.secret) = ("y", "oB1q6EF8rGUpd1qxBtcm")
                $0.tellsClient = false
                $0.unknownAccount = "rejected InvalidAccount"
                $0.wrongSecret = "rejected InvalidSignature"
                $0.wrongClock = "rejected SignatureExpired"
            }
        }

    private static let others = [
        FixtureCase("volcengine", "volcengine", "/resolve") {
            ($0.account, $0.secret) = ("1023", "QlgAuFMwNUwN")
            $0.unknownAccount = "status 403"
            $0.wrongSecret = "status 403"
            $0.wrongClock = "status 403"
        },
        FixtureCase("baidu", "baidu", "/v4/resolve") {
            ($0.account, $0.secret) = ("107080", "1234567890")
            $0.unknownAccount = "rejected AccountInvalid"
            $0.wrongSecret = "rejected SignatureInvalid"
        },
        FixtureCase("baidu v3", "baidu", "/v3/resolve") {
            ($0.account, $0.secret) = ("107080", "1234567890")
            $0.types = [.a]
        },
    ]

    private static let dns =
        LabJSONShape.allCases.map { shape in
            FixtureCase("json \(shape)", "google-json", "/resolve") {
                $0.shape = shape
                $0.tellsClient = false
            }
        } + [
            FixtureCase("cloudflare-json", "cloudflare-json", "/dns-query") {
                $0.tellsClient = false
            },
            FixtureCase("doh", "google", "/dns-query") { $0.tellsClient = false },
            FixtureCase("doh POST", "google", "/dns-query") {
                ($0.usesPOST, $0.tellsClient) = (true, false)
            },
        ]
}

/// A fixture with every provider's accounts, over TLS, and applications that ask it.
struct FixtureLab {
    let server: LabHTTPDNSServer
    private let root: TestAuthority
    private let trust: TrustPolicy

    init(_ item: FixtureCase? = nil, sharing other: FixtureLab? = nil) throws {
        root = try other?.root ?? TestAuthority()
        trust = TrustPolicy(roots: .pem(root.certificatePEM))
        var table = LabTable(
            try HostName("shop.pinlab.dev"),
            [try IPAddress("192.0.2.1"), try IPAddress("2001:db8::1")], ttlSeconds: 30)
        table.entries[try HostName("pay.pinlab.dev")] = LabTable.Entry(
            [try IPAddress("192.0.2.2"), try IPAddress("2001:db8::2")], ttlSeconds: 40)
        var settings = LabServiceSettings(table: table)
        settings.accounts = Self.accounts()
        settings.clientAddress = try IPAddress("203.0.113.7")
        if let item { settings.shape = item.shape }
        server = try LabHTTPDNSServer(
            names: [.address(LabAddress.ipv4)], authority: root, settings: settings)
        try server.start()
    }

    /// An application that asks these, in order, and believes the documentation networks.
    func application(
        _ resolvers: [ResolverDescription], report: (@Sendable (String) -> Void)? = nil
    ) throws -> HTTPDNS {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = resolvers
        configuration.resolverTrust = trust
        configuration.usesHostsFile = false
        configuration.report = report
        configuration.resolverOptions.addressPolicy.allowedBlocks = try Self.blocks.map {
            try AddressBlock($0)
        }
        return try HTTPDNS(configuration)
    }

    private static let blocks = ["192.0.2.0/24", "203.0.113.0/24", "2001:db8::/32"]

    /// What an application of its own is told.
    func outcome(
        _ resolvers: [ResolverDescription], _ type: RecordType = .a, milliseconds: Int64 = 20_000
    ) async throws -> Outcome {
        let question = Question(name: try HostName("shop.pinlab.dev"), type: type)
        return await Outcome(
            try application(resolvers), question, patience: .milliseconds(milliseconds))
    }

    private static func accounts() -> [LabAccount] {
        var second = LabAccount("100000", secret: "00112233445566778899aabbccddeeff")
        second.cipherKey = Secret("0f0e0d0c0b0a09080706050403020100")
        var des = LabAccount("1", secret: "unused")
        des.cipherKey = Secret("dnspodpass")
        var aes = LabAccount("2", secret: "unused")
        aes.cipherKey = Secret("0123456789abcdef")
        aes.token = Secret("800654663")
        var aliDNS = LabAccount("100001", secret: "SECRET")
        aliDNS.accessKey = "AKID"
        return [
            second, des, aes, aliDNS, LabAccount("139450", secret: "IAmASecret"),
            LabAccount("7", secret: "IAmASecret", allowsUnsigned: false),
            LabAccount("1023", secret: "QlgAuFMwNUwN"), LabAccount("107080", secret: "1234567890"),
            LabAccount("q", secret: "accountKey"), LabAccount("u", secret: "ucloud-secret"),
            LabAccount("y", secret: "oB1q6EF8rGUpd1qxBtcm"),
        ]
    }
}

/// What became of one lookup, in a word or two.
struct Outcome {
    let text: String
    /// Everything that a person could be shown of it.
    let messages: String
    let answer: LookupAnswer?
    let attempts: [LookupAttempt]

    init(_ application: HTTPDNS, _ question: Question, patience: Duration) async {
        do throws(LookupFailure) {
            let answer = try await application.resolver.lookup(question, patience: patience)
            self.answer = answer
            attempts = answer.attempts
            text = Self.text(answer, question)
            messages = "\(answer)"
        } catch {
            answer = nil
            attempts = error.attempts
            text = error.attempts.first.map { Self.text($0.reason) } ?? error.label
            messages = "\(error)"
        }
    }

    private static func text(_ answer: LookupAnswer, _ question: Question) -> String {
        switch answer.outcome {
        case .noData: return "none"
        case .noSuchName: return "no name"
        case .serverFailure(let code): return "code \(code.rawValue)"
        case .records: break
        }
        let told = answer.addresses.map(\.description).joined(separator: " ")
        if answer.addresses.allSatisfy(\.isLoopback) { return "told loopback" }
        let truth = question.type == .a ? "192.0.2.1" : "2001:db8::1"
        guard told == truth else { return "told " + told }
        let seconds = answer.testimony.answers.first?.ttlSeconds ?? 0
        return seconds == 30 ? "ok" : "ttl \(seconds)"
    }

    static func text(_ reason: LookupAttempt.Reason) -> String {
        switch reason {
        case .answered(let code): "code \(code.rawValue)"
        case .emptyAnswer: "empty"
        case .failed(.rejected(let code)): "rejected " + code
        case .failed(.httpStatus(let status)): "status \(status)"
        case .failed(let failure): failure.label
        }
    }
}
