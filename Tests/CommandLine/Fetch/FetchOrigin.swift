import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

/// An origin on loopback for `shop.example.test`, with a root of its own.
final class FetchOrigin: Sendable {
    let server: LabServer
    let authority: TestAuthority
    let identity: TestIdentity
    let directory: TemporaryDirectory

    /// How its certificate is made.
    enum Certificate: CaseIterable, CustomTestStringConvertible {
        case right, wrongName, unknownAuthority, selfSigned, expired, common

        var testDescription: String { "\(self)" }

        /// What the tool calls it.
        var label: String {
            switch self {
            case .right: ""
            case .wrongName, .common: "wrong_name"
            case .unknownAuthority: "unknown_issuer"
            case .selfSigned: "self_signed"
            case .expired: "expired"
            }
        }
    }

    init(
        _ certificate: Certificate = .right, address: IPAddress = LabAddress.ipv4,
        adjust: (inout TestIdentity) throws -> Void = { _ in }
    ) throws {
        let authority = try TestAuthority("Fetch Root")
        self.authority = authority
        let name: TestName = "shop.example.test"
        var made =
            switch certificate {
            case .right: try authority.leaf([name], commonName: "Shop")
            case .wrongName: try authority.leaf(["hijacker.invalid"], commonName: "Hijacker")
            case .unknownAuthority:
                try TestAuthority("Stranger").leaf([name], commonName: "Stranger's shop")
            case .selfSigned: try TestAuthority.selfSigned([name])
            case .expired: try authority.leaf([name], commonName: "Old", validity: .expired)
            case .common: try authority.leaf([], commonName: "shop.example.test")
            }
        try adjust(&made)
        identity = made
        directory = try TemporaryDirectory()
        try directory.write("root.pem", authority.certificatePEM)
        server = try LabServer(address: address, security: .tls(identity)) {
            FetchOrigin.answer($0)
        }
        try server.start()
    }

    deinit { server.stop() }

    var port: Port { server.port }
    var address: IPAddress { server.address }
    var rootFile: String { directory.path + "/root.pem" }

    func url(_ path: String = "/") -> String { server.url(host: "shop.example.test", path: path) }

    /// Fetches from it, at its address.
    func fetch(
        _ path: String, _ arguments: [String] = [], input: [UInt8] = []
    ) async throws -> CommandResult {
        try await run(
            Tool.path,
            [
                "fetch", url(path), "--resolve", "shop.example.test:\(address)", "--cacert",
                rootFile,
            ] + arguments, input: input, environment: ["NO_COLOR": "1"])
    }

    private static func setting(_ cookie: String) -> LabResponse {
        LabResponse(fields: [LabField("Set-Cookie", cookie)])
    }

    private static func answer(_ request: LabRequest) -> LabResponse {
        switch request.path {
        case "/redirect": .redirect(to: "/landed")
        case "/loop": .redirect(to: "/loop")
        case "/odd": .redirect(to: "http://127.1/")
        case "/missing": .text("not here", status: 404)
        case "/short": LabResponse.text("0123456789").conducting(.closes(afterBodyOctets: 4))
        case "/silent": .never
        case "/stalls": LabResponse.text("0123456789").conducting(.stalls(afterBodyOctets: 4))
        case "/garbage": LabResponse().conducting(.writes(Array("SSH-2.0-x\r\n\r\n".utf8)))
        case "/evil":
            LabResponse(fields: [LabField("X-Note", "\u{9B}31m red")], body: [0x1B, 0x5B, 0x41])
        case "/echo": LabResponse(body: request.body)
        case "/login": setting("sid=abc; Secure; HttpOnly; Path=/")
        case "/logout": setting("sid=; Secure; Path=/; Max-Age=0")
        case "/enter":
            LabResponse(
                status: 302,
                fields: [
                    LabField("Location", "/cookies"),
                    LabField("Set-Cookie", "sid=abc; Secure; Path=/"),
                ])
        case "/cookies": .text(request.value(of: "Cookie") ?? "")
        default:
            .text(
                "\(request.method) \(request.host ?? "") \(request.serverName ?? "") \(request.path)"
            )
        }
    }
}

extension CommandResult {
    /// The one object of `--json`.
    var object: JSONValue {
        get throws { try JSONValue.parse(output) }
    }
}
