import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// What curl saw of one answer.
struct Heard: Sendable {
    /// curl's own exit code.
    let exit: Int32
    let status: Int
    /// Status line and fields, then the body, as they came.
    let text: String
    let octets: [UInt8]
    let headCount: Int

    var body: String { String(decoding: bodyOctets, as: UTF8.self) }
    var bodyOctets: [UInt8] { Array(octets.dropFirst(headCount)) }

    func json() throws -> JSONValue { try JSONValue.parse(bodyOctets) }

    init(_ result: CommandResult) {
        exit = result.status
        octets = result.output
        text = result.outputText
        let words = text.prefix(100).split(separator: " ")
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        let end = result.output.indices.first { result.output[$0...].starts(with: Self.blank) }
        headCount = end.map { $0 + 4 } ?? result.output.count
    }

    private static let blank: [UInt8] = [13, 10, 13, 10]
}

/// A service with the accounts of the vendors' own examples, stopped at a moment.
struct LabVendors {
    let service: LabHTTPDNSServer

    init(
        at seconds: Int64 = 1_750_000_000, security: LabSecurity = .plain,
        _ change: (inout LabServiceSettings) throws -> Void = { _ in }
    ) throws {
        var settings = LabServiceSettings(table: try Self.table())
        settings.accounts = Self.accounts()
        settings.time = .stopped(WallTime(secondsSince1970: seconds))
        settings.clientAddress = try IPAddress("203.0.113.7")
        try change(&settings)
        service = try LabHTTPDNSServer(security: security, settings: settings)
        try service.start()
    }

    func stop() { service.stop() }

    func get(_ path: String, _ more: [String] = []) async throws -> Heard {
        let url = service.server.url(host: "127.0.0.1", path: path)
        return Heard(try await curl(url, ["-i", "-g", "--max-time", "10"] + more))
    }

    static func table() throws -> LabTable {
        var table = LabTable()
        func add(_ name: String, _ addresses: [String], _ ttl: UInt32 = 60) throws {
            table.entries[try HostName(name)] = LabTable.Entry(
                try addresses.map { try IPAddress($0) }, ttlSeconds: ttl)
        }
        try add("www.aliyun.com", ["192.0.2.10", "2001:db8::10"])
        try add("www.taobao.com", ["192.0.2.20"], 46)
        try add("www.dnspod.cn", ["192.0.2.1", "192.0.2.2"])
        try add("www.a.com", ["192.0.2.30", "2001:db8::30"], 52)
        for name in ["www.b.com", "www.baidu.com", "www.example.com", "www.yunaq.com", "b1"] {
            try add(name, ["192.0.2.40", "2001:db8::40"], 300)
        }
        return table
    }

    static func accounts() -> [LabAccount] {
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
            LabAccount("7", secret: "123456", allowsUnsigned: false),
            LabAccount("1023", secret: "QlgAuFMwNUwN"), LabAccount("107080", secret: "1234567890"),
            LabAccount("q", secret: "accountKey"), LabAccount("u", secret: "secret"),
            LabAccount("y", secret: "oB1q6EF8rGUpd1qxBtcm"),
        ]
    }
}

/// The values that vendors publish, or that follow from what they publish; outside this repository.
enum ProviderVectors {
    private static let path =
        "/" + #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
        + "/../shared/vectors/providers.json"

    static let arePresent = (try? contents(of: path)) != nil

    /// The text at a path of member names.
    static func text(_ names: String...) throws -> String {
        var value = try JSONValue.parse(try contents(of: path))
        for name in names { value = try #require(value[name], "\(name)") }
        return try #require(value.string)
    }
}

/// What the openssl tool says about an input; `arguments` as on its command line.
func openssl(_ arguments: [String], _ input: [UInt8]) async throws -> [UInt8] {
    let result = try await run("openssl", arguments, input: input)
    try #require(result.status == 0, "\(result.errorText)")
    return result.output
}

/// The digest of a text by the openssl tool.
func digest(_ text: String, _ options: [String] = ["-md5"]) async throws -> String {
    let line = try await openssl(["dgst", "-r"] + options, Array(text.utf8))
    return String(decoding: line.prefix { $0 != 0x20 }, as: UTF8.self)
}
