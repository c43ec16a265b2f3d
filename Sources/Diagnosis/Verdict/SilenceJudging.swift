internal import HTTPDNSNames

/// Says of right addresses that say nothing what is known of them, and no more.
///
/// Rules:
/// 1. That something is blocked is never certain: a server that is down can look the same.
/// 2. It is likely where others are reached, and one of these holds: connections are made and then cut
///    whatever the name; another port of the address takes connections and this one answers nothing,
///    where a server without HTTPS would refuse; addresses of several networks answer nothing at once.
/// 3. A refusal, or a router's word, is as good a sign of a server that is down.
/// 4. Where the port refuses and another one takes connections, the host is there, and reached: it may
///    have no HTTPS at all. That is no verdict.
struct SilenceJudging {
    let judging: Judging
    let dead: [IPAddress]

    private var weighing: Weighing { judging.weighing }

    /// Nil: none of them says nothing.
    var ruling: Ruling? {
        guard !dead.isEmpty else { return nil }
        let refusals = dead.compactMap { address -> Finding? in
            guard case .cut(.refused(let why)) = weighing.peers[address]?.real else { return nil }
            return Finding("tls_refused", "\(address) \(refusal(at: address)): \(why)")
        }
        if refusals.count == dead.count {
            return Ruling(.originBroken, .possible, refusals, against: refusalDoubts)
        }
        if closedPort != nil { return nil }
        let findings = dead.map { Finding("address_silent", "\($0): \(words(for: $0))") } + signs
        let reachesOthers = judging.evidence.answers.contains {
            !$0.source.isSuspect && $0.statement != nil
        }
        return Ruling(
            .addressBlocked, reachesOthers && !signs.isEmpty ? .likely : .possible, findings,
            against: [doubt])
    }

    /// What a server that has no HTTPS, and no other trouble, looks like.
    var closedPort: Finding? {
        let peers = dead.compactMap { weighing.peers[$0] }
        let open = peers.filter { $0.otherPort?.connection == .connected }
        let isAllRefused = peers.allSatisfy {
            if case .failed(.refused, _) = $0.connection { true } else { false }
        }
        guard isAllRefused, let first = open.first, let other = first.otherPort else { return nil }
        return Finding(
            "port_refuses",
            "\(open.map(\.address).listed): port \(first.port) refuses, and port \(other.port) takes "
                + "connections: there may be no HTTPS, or it is down, or somebody on the way refuses it"
        )
    }

    // MARK: Refusals

    /// With another name, or none, the same server may show a certificate.
    private func refusal(at address: IPAddress) -> String {
        isChoosy(address)
            ? "refuses TLS with this name, and not with another one or none"
            : "refuses TLS whatever the name, or speaks none"
    }

    private func isChoosy(_ address: IPAddress) -> Bool {
        let peer = weighing.peers[address]
        return [peer?.withoutName, peer?.otherName].contains { $0?.chain.isEmpty == false }
    }

    private var refusalDoubts: [Finding] {
        dead.contains(where: isChoosy)
            ? [
                Finding(
                    "may_be_filtered", "somebody on the way who filters names can refuse them, too")
            ] : [Finding("may_be_no_https", "no certificate was seen: there may be no HTTPS here")]
    }

    // MARK: Signs

    /// What a server that is down does not do.
    private var signs: [Finding] {
        var found: [Finding] = []
        let cut = dead.filter { weighing.peers[$0]?.connection == .connected }
        if !cut.isEmpty {
            found.append(
                Finding(
                    "cut_whatever_the_name",
                    "connections to \(cut.listed) are made, and then end whatever the name"))
        }
        for address in dead {
            guard let peer = weighing.peers[address], peer.connection == .timedOut,
                let other = peer.otherPort, other.connection == .connected
            else { continue }
            found.append(
                Finding(
                    "port_is_silent",
                    "\(address) takes connections on port \(other.port) and answers nothing on "
                        + "\(peer.port): a server without HTTPS would refuse"))
        }
        let silent = dead.filter { isSilent($0) }
        if silent.count == dead.count, Set(silent.map { $0.network }).count > 1 {
            found.append(
                Finding(
                    "networks_are_silent", "addresses of several networks answer nothing at once"))
        }
        return found
    }

    /// On both ports, though there is a route for its family.
    private func isSilent(_ address: IPAddress) -> Bool {
        guard let peer = weighing.peers[address], peer.connection == .timedOut else { return false }
        return peer.otherPort?.connection != .connected
    }

    // MARK: Words

    private var doubt: Finding {
        let connections = dead.compactMap { weighing.peers[$0]?.connection }
        let isAllRefused = connections.allSatisfy {
            if case .failed(.refused, _) = $0 { true } else { false }
        }
        guard !isAllRefused else {
            return Finding("may_be_down", "a server whose program does not run refuses just so")
        }
        return Finding("may_be_down", "a server that is down looks the same from here")
    }

    private func words(for address: IPAddress) -> String {
        guard let peer = weighing.peers[address] else { return "not tried" }
        let other = peer.otherPort.map { "; port \($0.port): \(words(of: $0.connection))" } ?? ""
        switch peer.connection {
        case .connected:
            return peer.real.map {
                "TLS with and without the name \(PeerJudging.words($0))"
            } ?? "not tried"
        case .failed(.networkUnreachable, _) where !hasRoute(to: address):
            return "this machine has no route for \(address.family == .ipv4 ? "IPv4" : "IPv6")"
        default: return "port \(peer.port): \(words(of: peer.connection))" + other
        }
    }

    private func words(of connection: PeerEvidence.Connection) -> String {
        switch connection {
        case .connected: "connected"
        case .timedOut: "no answer in time"
        case .notDialled(let why): why
        case .failed(.refused, _):
            "refused, by the host or by somebody in between"
        case .failed(.hostUnreachable, let word):
            "somebody on the way says that there is no such host (\(word))"
        case .failed(.networkUnreachable, let word):
            "this machine or a router knows no way there (\(word))"
        case .failed(.forbidden, let word):
            "this machine or a router does not allow it (\(word))"
        case .failed(.other, let word): "no connection: \(word)"
        }
    }

    private func hasRoute(to address: IPAddress) -> Bool {
        let network = judging.evidence.network
        return address.family == .ipv4 ? network.hasIPv4Route : network.hasIPv6Route
    }
}

extension IPAddress {
    /// Addresses that share it are mostly behind the same operator's router.
    ///
    /// Because: what is announced is at most a /24, or a /48. Source: RFC 7454 §6.1.3.
    fileprivate var network: [UInt8] { Array(octets.prefix(family == .ipv4 ? 3 : 6)) }
}
