internal import CHTTPDNSSystem
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform

/// A tunnel that is open. Confined to the proxy's thread.
final class TunnelTurn {
    let target: TunnelTarget
    let upstream: Channel
    /// What came of the client's first TLS message; nil once that was looked at, or where none is asked
    /// for.
    var hello: [UInt8]?
    var isClientEnded = false
    var isUpstreamEnded = false
    /// The end of one side was passed on to the other.
    var isEndToldUp = false
    var isEndToldDown = false

    init(target: TunnelTarget, upstream: Channel) {
        self.target = target
        self.upstream = upstream
        hello = target.isUnproven ? nil : []
    }
}

// On the way to a tunnel
extension ClientConnection {
    func beginTunnel(_ target: TunnelTarget, _ now: Monotonic) {
        record.kind = .tunnel
        record.target = target.text
        record.host = target.host
        routingEnds = now.adding(desk.settings.limits.routing)
        findRoute(target)
    }

    private func findRoute(_ target: TunnelTarget) {
        phase = .routing(target)
        deadline = routingEnds
        let (turn, desk) = (turn, desk)
        search = desk.prover.find(target, excluding: excluded) { desk.tell(turn, .routed($0)) }
    }

    /// The resolver and the addresses have had their time.
    func routingFailed(_ target: TunnelTarget, _ now: Monotonic) {
        leaveSearch()
        record.kind = .refused
        refuse(
            Refusal(
                504, "timed_out", "connection_timeout",
                "No address of \(target.text) has proved its name in time."), now)
    }

    func leaveSearch() {
        search?.leave()
        search = nil
    }

    func routed(
        _ result: Result<ProvenRoute, RouteFailure>, _ target: TunnelTarget, _ now: Monotonic
    ) {
        search = nil
        switch result {
        case .failure(let failure):
            if case .notProven(let resolution, let failures) = failure {
                note(failures)
                note(resolution)
            }
            if case .local(let resolution, _) = failure { note(resolution) }
            if case .notResolved(let why) = failure { resolutionFailure = why }
            record.kind = .refused
            refuse(refusal(failure, target), now)
        case .success(let route):
            note(route)
            dial(target, route, now)
        }
    }

    /// What proved itself and could not be connected to stands in the record alone.
    private func refusal(_ failure: RouteFailure, _ target: TunnelTarget) -> Refusal {
        guard case .notProven(_, let failures) = failure, failures.isEmpty,
            let last = record.attempts.last
        else { return Refusal(failure, target) }
        return Refusal(
            502, last.label, "destination_unavailable",
            "No tunnel to \(target.text).\n\(last.endpoint): \(last.message)")
    }

    private func note(_ failures: [AddressFailure]) {
        let known = Set(record.attempts)
        record.attempts += failures.map {
            ForwardProxyRecord.Attempt(
                endpoint: $0.endpoint, label: $0.label, message: $0.message)
        }.filter { !known.contains($0) }
    }

    private func note(_ resolution: ResolvedHost) {
        self.resolution = resolution
        record.resolver = resolution.source.resolver
        record.addresses = resolution.addresses
    }

    private func note(_ route: ProvenRoute) {
        note(route.failures)
        // They count among the addresses of this request.
        excluded.formUnion(route.failures.map(\.endpoint.address))
        note(route.resolution)
        record.peer = route.proof?.peer
        record.isProofKept = route.proof != nil && route.isKept
        record.resolveMilliseconds = route.resolveMilliseconds
        record.proveMilliseconds = route.proof == nil ? nil : route.proveMilliseconds
    }

    private func dial(_ target: TunnelTarget, _ route: ProvenRoute, _ now: Monotonic) {
        let octets = route.endpoint.address.octets
        let socket = httpdns_socket_connecting(octets, octets.count, route.endpoint.port.number)
        guard socket >= 0 else {
            let error = httpdns_errno()
            guard ![EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) else {
                // It is this machine that lacks something: the address is not to blame.
                record.kind = .refused
                return refuse(.lacking(systemWord(error)), now)
            }
            return dialFailed(target, route, systemWord(error), now)
        }
        let channel = Channel(socket, token: number << 1 | 1, poll: desk.poll)
        channel.isConnecting = true
        upstream = channel
        phase = .dialling(target, route)
        deadline = now.adding(ClientConnection.dialPatience)
    }

    func dialFailed(
        _ target: TunnelTarget, _ route: ProvenRoute, _ why: String, _ now: Monotonic
    ) {
        upstream?.close(resetting: false)
        upstream = nil
        desk.prover.forget(route.endpoint, for: target.host)
        excluded.insert(route.endpoint.address)
        record.attempts.append(
            ForwardProxyRecord.Attempt(
                endpoint: route.endpoint, label: "cannot_connect", message: why))
        record.peer = nil
        findRoute(target)
    }

    func upstreamWritable(_ now: Monotonic) {
        switch phase {
        case .dialling(let target, let route): dialled(target, route, now)
        case .tunnelling(let tunnel):
            guard tunnel.upstream.flush() else { return abort() }
            drainedUp(tunnel, now)
        default: break
        }
    }

    private func dialled(_ target: TunnelTarget, _ route: ProvenRoute, _ now: Monotonic) {
        guard let upstream else { return }
        let error = httpdns_connect_outcome(upstream.socket)
        guard error == 0 else { return dialFailed(target, route, systemWord(error), now) }
        upstream.isConnecting = false
        upstream.wantsRead = true
        record.remote = route.endpoint
        record.status = 200
        record.openedMilliseconds = milliseconds()
        let tunnel = TunnelTurn(target: target, upstream: upstream)
        phase = .tunnelling(tunnel)
        desk.count { $0.openTunnels += 1 }
        desk.settings.observer?(.opened(record))
        deadline = now.adding(
            tunnel.hello == nil
                ? desk.settings.limits.tunnelIdle : desk.settings.limits.hello)
        client.wantsRead = !isClientEnded
        guard client.write(ResponseText.established) else { return abort() }
        let early = input
        input = []
        if !early.isEmpty { early.withUnsafeBytes { passUp($0, tunnel, now) } }
        if isClientEnded, !isOver { endUp(tunnel) }
    }

    /// Because: the address has just answered a handshake, or did within the minute.
    private static let dialPatience: Duration = .seconds(5)
}

// An open tunnel
extension ClientConnection {
    func pumpUp(
        _ tunnel: TunnelTurn, _ scratch: UnsafeMutableRawBufferPointer, _ now: Monotonic
    ) {
        switch client.read(into: scratch) {
        case .nothing: break
        case .broken: abort()
        case .octets(let count):
            passUp(UnsafeRawBufferPointer(rebasing: scratch[..<count]), tunnel, now)
        case .end:
            isClientEnded = true
            client.wantsRead = false
            endUp(tunnel)
        }
    }

    private func endUp(_ tunnel: TunnelTurn) {
        tunnel.isClientEnded = true
        // It has ended before it began with TLS.
        guard tunnel.hello == nil else {
            return cut(tunnel, "client_left", "The client has left before it began with TLS.")
        }
        tellEnds(tunnel)
    }

    private func passUp(
        _ octets: UnsafeRawBufferPointer, _ tunnel: TunnelTurn, _ now: Monotonic
    ) {
        guard tunnel.hello == nil else { return readHello(octets, tunnel, now) }
        deadline = now.adding(desk.settings.limits.tunnelIdle)
        record.octetsUp += Int64(octets.count)
        guard tunnel.upstream.write(octets) else { return abort() }
        client.wantsRead = tunnel.upstream.unsentCount == 0 && !isClientEnded
    }

    /// The server name in the client's first message has to be the one that was asked for: another one
    /// would reach a site that was not proven, behind one that was.
    private func readHello(
        _ octets: UnsafeRawBufferPointer, _ tunnel: TunnelTurn, _ now: Monotonic
    ) {
        var hello = tunnel.hello ?? []
        hello.append(contentsOf: octets)
        tunnel.hello = hello
        switch HelloCheck.verdict(on: hello, for: tunnel.target.host) {
        case .wait: break
        case .pass:
            tunnel.hello = nil
            hello.withUnsafeBytes { passUp($0, tunnel, now) }
        case .notTLS:
            cut(
                tunnel, "not_tls",
                "The client does not begin with TLS, which is what was proven. "
                    + "--unproven-port lets a port go without.")
        case .otherName(let name):
            _ = client.write(ResponseText.unrecognisedName)
            cut(
                tunnel, "server_name_differs",
                "The client asked for a tunnel to \(tunnel.target.host) and in it for \(name).")
        }
    }

    func upstreamReadable(_ scratch: UnsafeMutableRawBufferPointer, _ now: Monotonic) {
        guard case .tunnelling(let tunnel) = phase else { return }
        switch tunnel.upstream.read(into: scratch) {
        case .nothing: break
        case .broken: abort()
        case .octets(let count):
            if tunnel.hello == nil { deadline = now.adding(desk.settings.limits.tunnelIdle) }
            record.octetsDown += Int64(count)
            guard client.write(UnsafeRawBufferPointer(rebasing: scratch[..<count])) else {
                return abort()
            }
            tunnel.upstream.wantsRead = client.unsentCount == 0
        case .end:
            tunnel.isUpstreamEnded = true
            tunnel.upstream.wantsRead = false
            tellEnds(tunnel)
        }
    }

    private func drainedUp(_ tunnel: TunnelTurn, _ now: Monotonic) {
        guard tunnel.upstream.unsentCount == 0 else { return }
        deadline = now.adding(desk.settings.limits.tunnelIdle)
        client.wantsRead = !tunnel.isClientEnded
        tellEnds(tunnel)
    }

    func drainedDown(_ tunnel: TunnelTurn, _ now: Monotonic) {
        guard client.unsentCount == 0 else { return }
        tunnel.upstream.wantsRead = !tunnel.isUpstreamEnded
        tellEnds(tunnel)
    }

    /// An end is passed on behind the last octet; after both, the tunnel is over.
    private func tellEnds(_ tunnel: TunnelTurn) {
        if tunnel.isClientEnded, !tunnel.isEndToldUp, tunnel.upstream.unsentCount == 0 {
            tunnel.isEndToldUp = true
            tunnel.upstream.endWriting()
        }
        if tunnel.isUpstreamEnded, !tunnel.isEndToldDown, client.unsentCount == 0 {
            tunnel.isEndToldDown = true
            client.endWriting()
        }
        guard tunnel.isEndToldUp, tunnel.isEndToldDown else { return }
        closeTunnel(resetting: false)
    }

    /// Ends a tunnel before its time.
    func cut(_ tunnel: TunnelTurn, _ reason: String, _ message: String) {
        record.reason = reason
        record.message = message
        // TLS says itself when it is whole, and a goodbye that was written is to arrive; of anything
        // else an end would look like the end of what was sent.
        closeTunnel(resetting: reason == "connection_lost" || tunnel.target.isUnproven)
    }

    private func closeTunnel(resetting: Bool) {
        guard !isOver else { return }
        desk.count { $0.openTunnels -= 1 }
        over(resetting: resetting)
        endRecord()
    }
}

/// What the first octets in a tunnel say.
enum HelloCheck: Sendable, Hashable {
    case wait, pass, notTLS
    case otherName(String)

    static func verdict(on octets: [UInt8], for host: Host) -> HelloCheck {
        guard let first = octets.first else { return .wait }
        // A handshake record, and its length. Source: RFC 8446 §5.1.
        guard first == 22, octets.count <= maximumOctets else { return .notTLS }
        guard octets.count >= 5,
            octets.count >= 5 + Int(octets[3]) << 8 + Int(octets[4])
        else { return .wait }
        switch ClientHello(octets) {
        case .incomplete: return .wait
        case .foreign: return .notTLS
        case .unnamed: return .pass
        case .naming(let text):
            guard let name = try? HostName(text), host == .name(name) else {
                return .otherName(text)
            }
            return .pass
        }
    }

    /// Because: with keys for quantum computers a message has 2 KiB; OpenSSL's own bound is 128 KiB.
    private static let maximumOctets = 131_072
}

/// The system's word for an error.
func systemWord(_ error: Int32) -> String {
    var word = [CChar](repeating: 0, count: 128)
    httpdns_error_text(error, &word, word.count)
    return String(decoding: word.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
