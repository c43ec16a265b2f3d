package import HTTPDNSNames

/// Sources whose addresses for a host led to somebody else: asked last for that host, for a while.
///
/// The attack: the first source of the chain lies, nobody proves to be the host at its addresses, and
/// every request fails though the next source knows better. Only the order changes: who is asked never
/// loosens what a peer must prove.
package struct DoubtedSources: Sendable {
    private var doubts: [HostName: [String: Monotonic]] = [:]

    package init() {}

    package mutating func doubt(_ source: String, for host: HostName, now: Monotonic) {
        if doubts[host] == nil, doubts.count >= DoubtedSources.mostHosts {
            doubts = doubts.filter { $0.value.values.contains { $0 > now } }
            if doubts.count >= DoubtedSources.mostHosts { doubts.removeAll() }
        }
        doubts[host, default: [:]][source] = now.adding(
            milliseconds: DoubtedSources.doubtMilliseconds)
    }

    package func isDoubted(_ source: String, for host: HostName, now: Monotonic) -> Bool {
        guard !doubts.isEmpty, let until = doubts[host]?[source] else { return false }
        return until > now
    }

    package mutating func removeAll() { doubts.removeAll() }

    /// Because: as long as an answer is usually kept; a network that lies goes on lying for longer.
    static let doubtMilliseconds: Int64 = 300_000
    /// Because: a bound on what a list of hosts can make of it; forgetting costs one refused request.
    static let mostHosts = 256
}
