package import HTTPDNS
import HTTPDNSJSON
package import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSTrust
import HTTPDNSWire
import TestSupport

/// The tier of docs/fleet.md on one machine: two dnsdist in front of several unbound, each at an
/// address of its own in 127/8, and the profiles and the configuration file that lead to it.
package final class FleetTier: Sendable {
    /// The zone that the tier knows; every name in it has ``answer``.
    package static let zone = "fleet.example.com"
    /// Data, never dialled: an address that a public host could have.
    package static let answer = IPAddress(family: .ipv4, high: 0, low: 20 << 24 | 7)
    package static let frontNames = ["fleet-a", "fleet-b"]

    let fronts: [FleetProcess]
    let resolvers: [FleetProcess]
    /// The texts of the profiles, in the order of ``frontNames``.
    package let profiles: [String]
    private let authority: TestAuthority
    /// Points the command line at the tier.
    package let configurationFile: String
    private let directory: TemporaryDirectory
    private let addresses: [IPAddress]
    private let secret: String
    /// Reads what the fronts count.
    private let watcher: HTTPDNS

    private static let ports = (dns: 20_053, doh: 20_443, web: 20_080)

    /// Writes everything and starts it; returns when both fronts answer and know all unbound alive.
    package static func started(unbounds: Int) async throws -> FleetTier {
        var trouble: any Error = FleetFault(description: "the tier does not start")
        // Addresses are drawn, not reserved: another run may have drawn the same.
        for _ in 0..<5 {
            do {
                let tier = try FleetTier(unbounds: unbounds)
                try await tier.start()
                return tier
            } catch { trouble = error }
        }
        throw trouble
    }

    private init(unbounds: Int) throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        watcher = try HTTPDNS()
        let net = "127.\(Int.random(in: 10...250)).\(Int.random(in: 1...250))"
        let addresses = try (0..<2 + unbounds).map { try IPAddress("\(net).\($0 + 1)") }
        self.addresses = addresses
        secret = String((0..<16).map { _ in "abcdefghkmnpqrst".randomElement() ?? "a" })
        let authority = try TestAuthority("Fleet Root")
        self.authority = authority
        try directory.write("root.pem", authority.certificatePEM)
        var unbound: [FleetProcess] = []
        var servers = ""
        for (number, address) in addresses.dropFirst(2).enumerated() {
            let name = "unbound-\(number + 1)"
            try directory.makeDirectory(name)
            let file = try directory.write(
                "\(name).conf",
                FleetTier.filled(
                    "fleet-unbound.conf",
                    [
                        "dir": "\(directory.path)/\(name)", "dns": "\(FleetTier.ports.dns)",
                        "address": "\(address)", "zone": FleetTier.zone,
                        "answer": "\(FleetTier.answer)",
                    ]))
            unbound.append(
                FleetProcess(
                    name, ["unbound", "-d", "-c", file], log: "\(directory.path)/\(name).log"))
            servers += FleetTier.server(name, address)
        }
        resolvers = unbound
        fronts = try FleetTier.fronts(
            directory, authority, Array(addresses.prefix(2)), servers, secret)
        profiles = try FleetTier.frontNames.indices.map {
            let text = FleetTier.profile($0, Array(addresses.prefix(2)))
            try directory.write("\(FleetTier.frontNames[$0]).json", text)
            return text
        }
        configurationFile = try directory.write("config.json", FleetTier.configuration)
    }

    /// A line of dnsdist's configuration. A single lost check takes a server out, a single answered one
    /// takes it in: that costs little here, and the cache bridges it.
    private static func server(_ name: String, _ address: IPAddress) -> String {
        """
        newServer({address="\(address):\(ports.dns)", name="\(name)", sockets=4,
          checkName="health.\(zone).", checkType="A", mustResolve=true,
          checkInterval=1, checkTimeout=500, maxCheckFailures=1, rise=1})

        """
    }

    private static func fronts(
        _ directory: TemporaryDirectory, _ authority: TestAuthority, _ addresses: [IPAddress],
        _ servers: String, _ secret: String
    ) throws -> [FleetProcess] {
        try frontNames.enumerated().map { number, name in
            let identity = try authority.intermediate().leaf([.dns("\(name).example.com")])
            let file = try directory.write(
                "\(name).conf",
                filled(
                    "fleet-dnsdist.conf",
                    [
                        "address": "\(addresses[number])", "dns": "\(ports.dns)",
                        "doh": "\(ports.doh)", "web": "\(ports.web)", "servers": servers,
                        "secret": secret,
                        "chain": try directory.write("\(name).pem", try identity.chainPEM),
                        "key": try directory.write("\(name).key", identity.privateKeyPEM),
                    ]))
            return FleetProcess(
                name, ["dnsdist", "--supervised", "--disable-syslog", "-C", file],
                log: "\(directory.path)/\(name).log")
        }
    }

    /// The file that points hosts at one front.
    private static func profile(_ number: Int, _ addresses: [IPAddress]) -> String {
        let name = frontNames[number]
        return """
            {
              "id": "\(name)",
              "title": "Resolver tier, front \(number + 1)",
              "kind": "doh",
              "url": "https://\(name).example.com:\(ports.doh)/dns-query",
              "bootstrap": {"ipv4": ["\(addresses[number])"]},
              "needs": [], "takes": [], "supports": ["any"],
              "source": "https://wiki.example.com/resolver-tier",
              "date": "2026-11-30"
            }

            """
    }

    private static let configuration = """
        {
          "resolvers": [
            {"resolver": "./fleet-a.json", "cacert": "root.pem"},
            {"resolver": "./fleet-b.json", "cacert": "root.pem"}
          ],
          "strategy": "hedged"
        }

        """

    private static func filled(_ template: String, _ values: [String: String]) throws -> String {
        // Tests/Fleet/Lab/FleetTier.swift lies four levels below the top.
        let top = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let text = try contents(of: "\(top)/scripts/server-templates/\(template)")
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        // Between marks stand names; what is no name of ours is text, and so is its mark.
        var result = parts.first ?? ""
        var isName = true
        for part in parts.dropFirst() {
            if isName, let value = values[part] {
                result += value
                isName = false
            } else {
                result += isName ? "@" + part : part
                isName = true
            }
        }
        return result
    }
}

// Life
extension FleetTier {
    private func start() async throws {
        let all = resolvers + fronts
        try await offPool { for process in all { try process.start() } }
        for number in fronts.indices {
            let isReady = await eventually(withinMilliseconds: 30_000) {
                guard all.allSatisfy(\.isAlive) else { return true }
                return await self.isServing(number)
            }
            guard isReady, all.allSatisfy(\.isAlive) else {
                let dead = all.first { !$0.isAlive } ?? fronts[number]
                throw FleetFault(
                    description: "\(dead.name) does not serve; it says: \(dead.lastWords)")
            }
        }
    }

    /// Whether a front answers over DoH and believes all that stand behind it to be well.
    func isServing(_ number: Int) async -> Bool {
        guard let host = try? host(asking: [number]), let question = try? question("ready"),
            (try? await host.resolver.lookup(question, patience: .seconds(1))) != nil
        else { return false }
        return await states(number) == resolvers.map { _ in "up" }
    }

    /// A question that no one asked before, if its label is new.
    package func question(_ label: String) throws -> Question {
        Question(name: try HostName("\(label).\(FleetTier.zone)"), type: .a)
    }

    /// One host of the fleet: an own cache and own connections, the profiles in the order given.
    ///
    /// In one process equal policies share connections; a root that nobody uses makes this one another.
    ///
    /// - Parameter observer: is told what its resolver does.
    package func host(
        asking order: [Int], observer: (@Sendable (ResolverEvent) -> Void)? = nil
    ) throws -> HTTPDNS {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = try order.map {
            try ResolverDescription(
                profile: profiles[$0], file: "\(FleetTier.frontNames[$0]).json")
        }
        let own = try TestAuthority("Root of one host")
        configuration.resolverTrust = TrustPolicy(
            roots: .pem(authority.certificatePEM + own.certificatePEM))
        configuration.resolverOptions.strategy = .hedged(after: nil)
        configuration.resolverOptions.observer = observer
        configuration.usesHostsFile = false
        return try HTTPDNS(configuration)
    }

    /// What a front counts; empty when it does not say.
    func statistics(_ number: Int) async -> [String: Int64] {
        guard let list = await report(number, "/api/v1/servers/localhost/statistics")?.array else {
            return [:]
        }
        var counts: [String: Int64] = [:]
        for entry in list {
            guard let name = entry.object?["name"]?.string,
                let value = entry.object?["value"]?.integer
            else { continue }
            counts[name] = value
        }
        return counts
    }

    /// `up` or `down`, of each unbound as a front sees it.
    private func states(_ number: Int) async -> [String] {
        let servers = await report(number, "/api/v1/servers/localhost")?.object?["servers"]?.array
        return (servers ?? []).compactMap { $0.object?["state"]?.string }
    }

    private func report(_ number: Int, _ path: String) async -> JSONValue? {
        let address = addresses[number]
        guard let url = try? HTTPURL("http://\(address):\(FleetTier.ports.web)\(path)"),
            let fields = try? HTTPFields(["X-API-Key": secret]),
            let response = try? await watcher.client.send(HTTPRequest(.get, url, fields: fields)),
            let (body, _) = try? await response.collect(upTo: 1 << 20)
        else { return nil }
        return try? JSONValue.parse(String(decoding: body, as: UTF8.self))
    }
}
