import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTransport
import Testing

/// One end of a connection that can speak while its client is silent.
protocol Speaker {
    func say(_ octets: [UInt8])
    func hangUp()
    /// Returns when the client's system has all that was said.
    func waitUntilTaken()
}

extension ServerConnection: Speaker {
    func say(_ octets: [UInt8]) { send(octets) }
}

extension Link: Speaker {
    func say(_ octets: [UInt8]) { send(octets) }
    func hangUp() { close() }
}

/// What a server was asked and says, whatever carries it. `/first` has the answer that the test gives;
/// every other target is told back. `/speak`, on a connection of its own, makes the first connection say
/// what nobody asked for.
final class UnaskedStage: Sendable {
    struct Asked: Sendable, Hashable {
        /// 1 for the first.
        let connection: Int
        let target: String
        let body: String
    }

    private struct Mouth: @unchecked Sendable {
        // Safety: its owner waits for its client meanwhile, and only what is said is of another thread.
        let speaker: any Speaker
    }

    private struct State {
        var asked: [Asked] = []
        var connections = 0
        var first: Mouth?
    }

    private let state = Locked(State())
    private let first: [UInt8]
    /// Nil: it hangs up.
    private let unasked: [UInt8]?

    init(first: String = UnaskedStage.answer("first"), unasked: [UInt8]? = nil) {
        self.first = Array(first.utf8)
        self.unasked = unasked
    }

    static func answer(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    var asked: [Asked] { state.withLock { $0.asked } }

    /// How often a target was asked for, and on which connections.
    func connections(asking target: String) -> [Int] {
        asked.filter { $0.target == target }.map(\.connection)
    }

    /// The number of a connection that begins.
    func begin(_ speaker: any Speaker) -> Int {
        let mouth = Mouth(speaker: speaker)
        return state.withLock {
            $0.connections += 1
            if $0.first == nil { $0.first = mouth }
            return $0.connections
        }
    }

    func take(_ head: UnaskedHead, _ body: [UInt8], on connection: Int, _ speaker: any Speaker) {
        let target = head.target
        let asked = Asked(
            connection: connection, target: target, body: String(decoding: body, as: UTF8.self))
        let mouth = state.withLock {
            $0.asked.append(asked)
            return $0.first
        }
        switch target {
        case "/first": speaker.say(first)
        case "/speak":
            if let mouth {
                if let unasked { mouth.speaker.say(unasked) } else { mouth.speaker.hangUp() }
                mouth.speaker.waitUntilTaken()
            }
            speaker.say(Array(Self.answer("said").utf8))
        default:
            let answer = Array(Self.answer(target).utf8)
            speaker.say(head.isHead ? answer.dropLast(target.utf8.count) : answer)
        }
    }
}

/// What carries requests to an ``UnaskedStage``.
enum UnaskedWire: CaseIterable, Sendable {
    case plain, tls
    /// Through a proxy that reads the request.
    case proxied
    /// Through a proxy's tunnel, in clear text.
    case tunnelled
}

/// A stage that listens.
final class UnaskedServer: Sendable {
    let wire: UnaskedWire
    let stage: UnaskedStage
    private let lab: TrustedLab?
    private let secure: RawTLSServer?
    private let plain: ScriptedServer?

    init(_ wire: UnaskedWire, _ stage: UnaskedStage) throws {
        self.wire = wire
        self.stage = stage
        guard wire == .tls else {
            (lab, secure) = (nil, nil)
            plain = try ScriptedServer {
                UnaskedServer.serve($0, stage, isTunnelled: wire == .tunnelled)
            }
            return
        }
        let lab = try TrustedLab()
        let identity = try lab.root.leaf(["shop.example.test"], commonName: "Lab origin")
        self.lab = lab
        plain = nil
        secure = try RawTLSServer(identity, .http1) { UnaskedScript(stage) }
    }

    private static func serve(
        _ connection: ServerConnection, _ stage: UnaskedStage, isTunnelled: Bool
    ) {
        if isTunnelled {
            guard connection.readHead()?.hasPrefix("CONNECT ") == true else { return }
            connection.send("HTTP/1.1 200 Connected\r\n\r\n")
        }
        let number = stage.begin(connection)
        while let head = connection.readHead() {
            let request = UnaskedHead(head)
            guard let body = connection.read(request.length) else { return }
            stage.take(request, body, on: number, connection)
        }
    }

    func request(
        _ target: String, _ method: HTTPMethod = .get, body: RequestBody = .none
    ) throws -> TransportRequest {
        let host = Host.name(try HostName("shop.example.test"))
        let endpoint = try #require(
            secure.map { Endpoint(address: $0.address, port: $0.port) } ?? plain?.endpoint)
        let route = try #require(Route(addresses: [endpoint.address], port: endpoint.port))
        var request = TransportRequest(
            origin: Origin(scheme: wire == .tls ? .https : .http, host: host), route: route,
            method: method, target: target, body: body, verifier: lab?.verifier)
        // What never comes would otherwise be waited for for a minute.
        request.limits.idleMilliseconds = 30_000
        if wire == .proxied || wire == .tunnelled {
            let proxy = Proxy(.http, host: .address(endpoint.address), port: endpoint.port)
            request.via = ProxyPath(
                proxy: proxy, address: wire == .tunnelled ? LabAddress.ipv4 : nil)
        }
        return request
    }

    /// The first connection speaks, and its client has it.
    func speak() async throws {
        #expect(await run(try request("/speak"), Transport()).text == "said")
    }
}

struct UnaskedHead {
    let target: String
    let isHead: Bool
    let length: Int

    init(_ head: String) {
        let words = head.split(separator: " ", maxSplits: 2)
        isHead = words.first == "HEAD"
        let named = words.count > 1 ? words[1] : ""
        // In absolute form to a proxy.
        target =
            named.hasPrefix("/") ? String(named) : "/" + (named.split(separator: "/").last ?? "")
        let field = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        length = field.flatMap { Int($0.dropFirst("Content-Length: ".utf8.count)) } ?? 0
    }
}

private final class UnaskedScript: LinkScript {
    private let stage: UnaskedStage
    private var number = 0
    private var buffer: [UInt8] = []

    init(_ stage: UnaskedStage) { self.stage = stage }

    func opened(_ link: Link) { number = stage.begin(link) }

    func received(_ octets: [UInt8], _ link: Link) {
        buffer += octets
        let end = Array("\r\n\r\n".utf8)
        while let place = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) {
            let request = UnaskedHead(String(decoding: buffer[..<place], as: UTF8.self))
            guard buffer.count >= place + 4 + request.length else { return }
            let body = Array(buffer[(place + 4)..<(place + 4 + request.length)])
            buffer.removeFirst(place + 4 + request.length)
            stage.take(request, body, on: number, link)
        }
    }
}
