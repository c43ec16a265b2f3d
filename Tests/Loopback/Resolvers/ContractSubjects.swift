import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSStatic
import HTTPDNSSystem
import TestSupport

/// Plain DNS in each of its forms.
let datagramSubjects: [ContractSubject] = [
    ContractSubject("UDP") {
        let server = try RawDNSServer { contractActs($0) }
        return OpenedSubject(DatagramBackend(servers: [server.endpoint]), keeping: server)
    },
    ContractSubject("TCP") {
        let server = try RawDNSServer { contractActs($0) }
        return OpenedSubject(
            DatagramBackend(servers: [server.endpoint], mode: .tcpOnly), keeping: server)
    },
    ContractSubject("the servers of resolv.conf") {
        let server = try RawDNSServer { contractActs($0) }
        var conf = ResolvConf(parsing: "options timeout:1 attempts:3")
        conf.servers = [server.endpoint]
        return OpenedSubject(
            ResolvConfBackend(engine: .shared) { [conf] in conf }, keeping: server)
    },
    ContractSubject("UDP, watched for forgeries") {
        let server = try RawDNSServer { contractActs($0) }
        let backend = DatagramBackend(servers: [server.endpoint])
        return OpenedSubject(backend.watchingForForgeries { _ in }, keeping: server)
    },
    ContractSubject("UDP on IPv6, behind a dead server") {
        let server = try RawDNSServer(on: "::1") { contractActs($0) }
        return OpenedSubject(
            DatagramBackend(servers: [try closedEndpoint(), server.endpoint]), keeping: server)
    },
]

/// Those that ask no server of ours.
let localSubjects: [ContractSubject] = [
    // getaddrinfo itself would ask the machine's own servers: its place is taken by the zone.
    ContractSubject(
        "system", without: [.aliases, .negativeTTL, .ttl, .responseCodes, .octets]
    ) {
        let blocked = BlockedCalls()
        let backend = SystemBackend(ttlSeconds: 60, threads: SystemThreads(count: 4)) {
            zoneLookup($0, $1, blocked)
        }
        return OpenedSubject(backend, keeping: ReleaseAtEnd(blocked))
    },
    ContractSubject(
        "table",
        without: [.aliases, .noSuchName, .negativeTTL, .responseCodes, .silence, .octets]
    ) {
        var table: [HostName: [IPAddress]] = [:]
        table[try HostName("ok.contract.test")] = try (ContractZone.ipv4 + ContractZone.ipv6)
            .map { try IPAddress($0) }
        table[try HostName("nodata.contract.test")] = [try IPAddress("203.0.113.1")]
        for number in 0..<200 {
            table[try HostName("many-\(number).contract.test")] = [
                try IPAddress("198.51.0.\(number)")
            ]
        }
        return OpenedSubject(
            StaticBackend(table, ttlSeconds: ContractZone.addressTTLSeconds))
    },
]

/// What getaddrinfo would say in ``ContractZone``; it blocks for the silent name.
private func zoneLookup(
    _ name: HostName, _ family: IPAddress.Family, _ blocked: BlockedCalls
) -> SystemLookup.Outcome {
    switch ContractZone.behaviour(of: name.text) {
    case .addresses(let texts), .alias(_, let texts):
        let addresses = texts.compactMap { try? IPAddress($0) }
        return .addresses(addresses.filter { $0.family == family })
    case .noData: return .addresses([])
    case .noSuchName: return .noSuchName
    case .code: return .failed(.unreachable("Temporary failure in name resolution"))
    case .silence, .hostile:
        blocked.block()
        return .failed(.unreachable("Temporary failure in name resolution"))
    }
}
