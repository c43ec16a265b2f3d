internal import HTTPDNSDiagnosis
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Meets one address: connects, lets it prove the name, and where it does not, tries without the name
/// and with another one. Sends no request. Blocks its thread.
struct PeerProbing: Sendable {
    let verifier: OpenSSLVerifier
    let name: HostName
    let otherName: HostName
    let port: Port
    /// Where HTTP is spoken.
    let plainPort: Port
    /// For the first handshake.
    let firstEnd: Monotonic
    /// For all of it.
    let end: Monotonic

    /// What is at `address`; `at` and `took` are left to the caller.
    func meet(_ address: IPAddress) -> PeerEvidence {
        let endpoint = Endpoint(address: address, port: port)
        var peer = PeerEvidence(address: address, port: port, connection: .connected)
        switch handshake(endpoint, host: .name(name), sendsName: true, by: firstEnd) {
        case .connection(let failure):
            peer.connection = failure
            if plainPort != port {
                let other = Endpoint(address: address, port: plainPort)
                peer.otherPort = PeerEvidence.OtherPort(
                    port: plainPort,
                    connection: PortKnock(endpoint: other, deadline: knockEnd).outcome)
            }
            return peer
        case .handshake(let handshake): peer.real = handshake
        }
        guard peer.real?.isProven != true else { return peer }
        // Beside each other: both may have to wait for the end.
        let other = Locked<Outcome?>(nil)
        let done = ConditionLocked<[Bool]>([])
        let isStarted = DetachedThread.start(named: "httpdns-diagnose") {
            let outcome = handshake(endpoint, host: .name(otherName), sendsName: true, by: end)
            other.withLock { $0 = outcome }
            done.withLockSignalling { $0 = [true] }
        }
        peer.withoutName = handshake(endpoint, host: .name(name), sendsName: false, by: end).spoken
        if isStarted {
            _ = done.waitAndTake({ taken, _ in taken }, until: { _ in nil })
        } else {
            let outcome = handshake(endpoint, host: .name(otherName), sendsName: true, by: end)
            other.withLock { $0 = outcome }
        }
        peer.otherName = other.withLock { $0 }?.spoken
        return peer
    }

    private var knockEnd: Monotonic {
        min(end, SystemMonotonicClock().now().adding(milliseconds: PeerProbing.knockMilliseconds))
    }

    /// Because: above nearly every round trip, with one repeat of the first segment (RFC 6298 §2.1 waits
    /// 1 s for it); who is silent on one port is mostly so on all, and must not hold up the report.
    private static let knockMilliseconds: Int64 = 1_200

    private enum Outcome: Sendable {
        case connection(PeerEvidence.Connection)
        case handshake(Handshake)

        var spoken: Handshake? { if case .handshake(let it) = self { it } else { nil } }
    }

    private func handshake(
        _ endpoint: Endpoint, host: Host, sendsName: Bool, by end: Monotonic
    ) -> Outcome {
        let probe = TLSProbe(verifier: verifier)
        do throws(TLSProbe.Failure) {
            let success = try probe.connect(
                to: endpoint, host: host, sendsName: sendsName, by: end)
            return .handshake(.proven(chain: success.peer.chain, version: success.version))
        } catch {
            return PeerProbing.outcome(of: error)
        }
    }

    private static func outcome(of failure: TLSProbe.Failure) -> Outcome {
        switch failure {
        case .unreachable(_, let reason):
            // What this machine lacks says nothing of the address.
            .connection(
                LocalShortage.named(by: reason) != nil
                    ? .notDialled(reason) : .failed(.init(word: reason), reason))
        case .timedOut(_, let what):
            what == "connection" ? .connection(.timedOut) : .handshake(.timedOut)
        case .untrusted(let failure): .handshake(.untrusted(failure))
        case .handshake(_, let text): .handshake(.cut(cut(text)))
        case .unexpected(let text): .handshake(.cut(.refused(text)))
        }
    }

    /// By the words of ``TLSProbe`` and of OpenSSL.
    private static func cut(_ text: String) -> Handshake.Cut {
        if text.contains("the peer closed the connection") || text.contains("reset") {
            return .reset
        }
        return text.contains("unexpected eof") ? .closed : .refused(text)
    }
}

extension PeerEvidence.Obstacle {
    /// By the system's word.
    init(word: String) {
        self =
            switch ConnectRefusal(word: word) {
            case .refused: .refused
            case .hostUnreachable: .hostUnreachable
            case .networkUnreachable: .networkUnreachable
            case .forbidden: .forbidden
            case nil: .other
            }
    }
}

/// One TCP connection that is closed as soon as it is there. Blocks its thread.
struct PortKnock {
    let endpoint: Endpoint
    let deadline: Monotonic

    var outcome: PeerEvidence.Connection {
        guard let poll = EventPoll() else { return .failed(.other, "no descriptor left") }
        let socket: StreamSocket
        do { socket = try StreamSocket(to: endpoint) } catch {
            return .failed(.init(word: error.word), error.word)
        }
        guard poll.watch(socket.descriptor, token: 1, forWriting: true) else {
            return .failed(.other, "epoll refused a socket")
        }
        let clock = SystemMonotonicClock()
        while clock.now() < deadline {
            guard !poll.wait(until: deadline, now: clock.now()).isEmpty else { continue }
            return socket.fault.map { .failed(.init(word: $0), $0) } ?? .connected
        }
        return .timedOut
    }
}
