import CHTTPDNSSystem
import HTTPDNSForwardProxy
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import TestSupport
import Testing

/// Tunnels to a port that goes without a proof, so that every octet is the test's own.
@Suite(.timeLimit(.minutes(5))) struct ProxyTunnelTests {
    private let echo: EchoServer
    private let root: String
    private let directory: TemporaryDirectory

    init() throws {
        echo = try EchoServer()
        directory = try TemporaryDirectory()
        try directory.write("root.pem", try TestAuthority("Tunnel Root").certificatePEM)
        root = directory.path + "/root.pem"
    }

    private func lab(
        _ adjust: (inout ForwardProxyConfiguration) -> Void = { _ in }
    ) throws -> ProxyLab {
        let port = echo.port
        return try ProxyLab(["echo.example.test": ["127.0.0.1"]], root: root) { settings in
            settings.unprovenPorts = [port]
            adjust(&settings)
        }
    }

    private func tunnel(_ proxy: ForwardProxy, early: String = "") throws -> RawClient {
        let client = try proxy.connected()
        client.send(
            "CONNECT echo.example.test:\(echo.port) HTTP/1.1\r\nHost: x\r\n\r\n" + early)
        let answer = client.readText(until: "\r\n\r\n")
        guard answer.hasPrefix("HTTP/1.1 200 ") else {
            throw ProxyTestError(description: "no tunnel: \(answer)")
        }
        return client
    }

    @Test func `each side may end while the other goes on`() async throws {
        let lab = try lab()
        let answer = try await offPool {
            let client = try self.tunnel(lab.proxy)
            client.send("count")
            client.endWriting()
            // It answers only once it has seen the end.
            return client.readText()
        }
        #expect(answer == "echo: count, and the end")
        let record = try #require(await lab.ended(1).first)
        #expect(record.reason == nil)
        #expect(record.octetsUp == 5 && record.octetsDown == 24)
    }

    @Test func `what is sent with CONNECT goes first into the tunnel`() async throws {
        let lab = try lab()
        let answer = try await offPool {
            let client = try self.tunnel(lab.proxy, early: "early ")
            client.send("late")
            client.endWriting()
            return client.readText()
        }
        #expect(answer == "echo: early late, and the end")
    }

    @Test func `a side that does not read holds the other back`() async throws {
        let lab = try lab()
        let taken = try await offPool {
            let client = try self.tunnel(lab.proxy)
            client.send("silence\n")
            let piece = [UInt8](repeating: 0x61, count: 65_536)
            var taken = 0
            // Until the buffers of two sockets, and of the proxy, are full for a while.
            for _ in 0..<4_000 {
                let count = client.sendWhatFits(piece)
                taken += count
                if count == 0, client.read(milliseconds: 50) != nil { break }
                if count == 0, client.sendWhatFits(piece) == 0, taken > 0 { break }
            }
            return taken
        }
        // A proxy without bounds would have taken all of the 250 MiB.
        #expect(taken > 0)
        #expect(taken < 64 << 20)
        #expect(Sanitizer.isOn || residentOctets() < 1 << 30)
    }

    @Test func `hundreds of tunnels stand idle on one thread`() async throws {
        let lab = try lab()
        let before = threadCount()
        let (idle, threads) = try await offPool {
            let clients = try (0..<300).map { _ in try self.tunnel(lab.proxy) }
            let threads = threadCount()
            for client in clients { client.send("x") }
            for client in clients { client.endWriting() }
            return (clients.count { $0.readText() == "echo: x, and the end" }, threads)
        }
        #expect(idle == 300)
        // The server's and a few of the library's; the tunnels have none.
        #expect(threads - before < 100)
        #expect(await lab.ended(300).count == 300)
        #expect(lab.proxy.counts.openTunnels == 0)
    }

    @Test func `a storm of clients that leave at any moment leaves nothing behind`() async throws {
        let lab = try lab()
        try await offPool {
            let target = "CONNECT echo.example.test:\(self.echo.port) HTTP/1.1\r\nHost: x\r\n\r\n"
            for round in 0..<400 {
                let client = try lab.proxy.connected()
                let cut = target.utf8.count * (round % 7) / 5
                client.send(String(target.prefix(cut)))
                if round % 3 == 0 { _ = client.read(milliseconds: 1) }
                if round % 2 == 0 { client.reset() }
            }
        }
        let isEmpty = await eventually(withinMilliseconds: 30_000) {
            lab.proxy.counts.openConnections == 0 && lab.proxy.counts.openTunnels == 0
        }
        #expect(isEmpty, "\(lab.proxy.counts)")
        let answer = try await offPool {
            let client = try self.tunnel(lab.proxy)
            client.send("alive")
            client.endWriting()
            return client.readText()
        }
        #expect(answer == "echo: alive, and the end")
    }

    @Test func `a tunnel that is silent for too long is ended`() async throws {
        let lab = try lab { $0.limits.tunnelIdle = .milliseconds(100) }
        let text = try await offPool { try self.tunnel(lab.proxy).readText() }
        #expect(text.isEmpty)
        #expect(await lab.ended(1).map(\.reason) == ["idle"])
    }

    @Test func `a tunnel that goes nowhere says so, and the connection is still of use`()
        async throws
    {
        let lab = try lab()
        let closed = try closedPort(address: LabAddress.ipv4)
        let text = try await offPool {
            let client = try lab.proxy.connected()
            client.send(
                "CONNECT echo.example.test:\(closed) HTTP/1.1\r\nHost: x\r\n\r\n"
                    + "CONNECT nowhere.example.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"
                    + "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return client.readText()
        }
        let states = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("HTTP/1.1 ") }
        #expect(states.map { $0.dropFirst(9).prefix(3) } == ["502", "502", "200"])
    }

    @Test func `stopping lets what is in flight end, and cuts what does not`() async throws {
        let lab = try lab()
        let client = try await offPool { try self.tunnel(lab.proxy) }
        let idle = try lab.proxy.connected()
        let isOpen = await eventually { lab.proxy.counts.openConnections == 2 }
        #expect(isOpen)
        async let stopped: Void = lab.proxy.stop(grace: .seconds(60))
        // The idle connection is of no more use, and nobody new is let in.
        let end = try await offPool { idle.read() }
        #expect(end == [])
        let isShut = await eventually { (try? lab.proxy.connected()) == nil }
        #expect(isShut)
        let answer = try await offPool {
            client.send("still")
            client.endWriting()
            return client.readText()
        }
        #expect(answer == "echo: still, and the end")
        await stopped

        let hard = try self.lab()
        let held = try await offPool { try self.tunnel(hard.proxy) }
        await hard.proxy.stop(grace: .milliseconds(1))
        #expect(hard.records.map(\.reason) == ["stopping"])
        withExtendedLifetime(held) {}
    }

    @Test func `a proxy that nobody holds ends`() async throws {
        var lab: ProxyLab? = try self.lab()
        let endpoint = try #require(lab?.proxy.endpoint)
        let client = try RawClient(endpoint)
        lab = nil
        let end = try await offPool { client.read() }
        #expect(end == nil || end == [])
        let isGone = await eventually { (try? RawClient(endpoint)) == nil }
        #expect(isGone)
    }

    @Test func `more connections than allowed wait their turn, and a log is not flooded`()
        async throws
    {
        let lab = try lab { $0.limits.connections = 2 }
        // Nobody else holds them: who is taken out of it has left.
        var held = [try lab.proxy.connected(), try lab.proxy.connected()]
        for round in 1...20 {
            held.append(try lab.proxy.connected())
            held[2].send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
            // Each that waits is a pause of its own, and of the same episode.
            if round == 1 { #expect(await eventually { lab.pauses == 1 }) }
            #expect(lab.proxy.counts.connections == UInt64(round + 1))
            held.removeFirst()
            let text = try await offPool { [last = held[1]] in last.readText(until: "\r\n\r\n") }
            #expect(text.hasPrefix("HTTP/1.1 200 "))
        }
        #expect(lab.pauses == 1)
    }
}

/// Answers with what it was sent once it has seen the end of it; after "silence" it reads nothing more.
final class EchoServer: Sendable {
    private let socket: Int32
    let port: Port

    init() throws {
        let octets = LabAddress.ipv4.octets
        socket = httpdns_socket_bound(1, octets, octets.count, 0)
        guard socket >= 0, let port = Port(httpdns_socket_port(socket)) else {
            throw ProxyTestError(description: "no port")
        }
        self.port = port
        let listener = socket
        DetachedThread.start(named: "echo") { EchoServer.serve(listener) }
    }

    deinit { shutdown(socket, Int32(SHUT_RDWR)) }

    private struct Peer {
        var octets: [UInt8] = []
        var isSilent = false
    }

    private static func serve(_ listener: Int32) {
        var peers: [Int32: Peer] = [:]
        defer {
            for peer in peers.keys { close(peer) }
            close(listener)
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var polled = ([listener] + peers.filter { !$0.value.isSilent }.keys).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            for ready in polled where ready.revents != 0 {
                if ready.fd == listener {
                    let peer = httpdns_socket_accept(listener)
                    guard peer >= 0 || httpdns_errno() == EAGAIN else { return }
                    if peer >= 0 { peers[peer] = Peer() }
                    continue
                }
                let count = httpdns_connected_receive(ready.fd, &buffer, buffer.count)
                if count > 0 {
                    peers[ready.fd]?.octets += buffer.prefix(count)
                    let isSilent = buffer.starts(with: Array("silence".utf8))
                    if isSilent { peers[ready.fd]?.isSilent = true }
                } else {
                    let said = peers.removeValue(forKey: ready.fd)?.octets ?? []
                    let answer = Array("echo: ".utf8) + said + Array(", and the end".utf8)
                    if count == 0 { httpdns_connected_send(ready.fd, answer, answer.count) }
                    close(ready.fd)
                }
            }
        }
    }
}

/// Threads of this process. Source: proc(5).
func threadCount() -> Int {
    guard let status = try? contents(of: "/proc/self/status"),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Threads:") })
    else { return 0 }
    return Int(line.dropFirst(8).filter(\.isNumber)) ?? 0
}

/// Octets of memory that this process has. Source: proc(5).
func residentOctets() -> Int {
    guard let status = try? contents(of: "/proc/self/status"),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
    else { return .max }
    return (Int(line.filter(\.isNumber)) ?? 0) * 1_024
}
