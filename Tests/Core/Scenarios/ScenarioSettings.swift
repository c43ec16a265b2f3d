import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSResolution
import HTTPDNSWire

/// What the settings of a scenario say.
struct ScenarioSettings {
    struct Source {
        let label: String
        var isAuthenticated = true
        var isLocal = false
        /// Asked only for what the routes let pass by.
        var isBypass = false
    }

    private(set) var sources: [Source] = []
    private(set) var options = ResolverOptions()
    private(set) var hasStore = false

    init(_ settings: [(line: Int, words: [String])]) throws {
        options.families = [.ipv4]
        for (line, words) in settings {
            let fault = Scenario.Fault(
                line: line, reason: "\"\(words.joined(separator: " "))\" is no setting")
            guard words.count >= 2 else { throw fault }
            if words[0] == "source" {
                var source = Source(label: words[1])
                for word in words.dropFirst(2) {
                    switch word {
                    case "plain": source.isAuthenticated = false
                    case "local": source.isLocal = true
                    case "bypass": source.isBypass = true
                    default: throw fault
                    }
                }
                sources.append(source)
            } else if try !set(words[1], Array(words.dropFirst(2))) {
                throw fault
            }
        }
    }

    private mutating func set(_ name: String, _ values: [String]) throws -> Bool {
        let first = values.first ?? ""
        let number = Int64(first) ?? 0
        switch name {
        case "strategy":
            switch first {
            case "ordered": options.strategy = .ordered
            case "raced": options.strategy = .raced
            case "hedged":
                options.strategy = .hedged(
                    after: values.dropFirst().first.flatMap { Int64($0) }.map { .milliseconds($0) })
            default: return false
            }
        case "window": options.preferenceWindow = .milliseconds(number)
        case "stale":
            let after = values.dropFirst().first.flatMap { Int64($0) } ?? 0
            options.staleAnswers = StaleAnswers(
                maximumAge: .seconds(number), after: .milliseconds(after))
        case "patience": options.patience = .milliseconds(number)
        case "families":
            options.families = Set(values.map { $0 == "ipv6" ? .ipv6 : .ipv4 })
        case "holds": options.holdsFailures = first == "on"
        case "refreshes": options.refreshesPopular = first == "on"
        case "minimum-ttl": options.lifeRules.all.minimumSeconds = UInt32(clamping: number)
        case "maximum-ttl": options.lifeRules.all.maximumSeconds = UInt32(clamping: number)
        case "maximum-ttl-of":
            options.lifeRules.suffixes[try HostName(first)] = LifeRules.Clamp(
                maximumSeconds: values.last.flatMap { UInt32($0) })
        case "entries": options.cacheEntries = Int(number)
        case "store": hasStore = true
        case "network": options.network = first
        case "policy": options.addressPolicy = first == "off" ? .off : .standard
        case "allow": options.addressPolicy.allowedBlocks.append(try AddressBlock(first))
        case "allow-name":
            options.addressPolicy.allowedNames.append(try HostPattern(first))
        case "table":
            options.tables.append(
                FixedHostTable(
                    [try HostName(first): try values.dropFirst().map { try IPAddress($0) }],
                    label: "table"))
        case "routes": options.routes = try RoutingRules(values.joined(separator: " "))
        case "nat64":
            options.nat64 = first == "detect" ? .detect : .off
        default: return false
        }
        return true
    }
}

/// The replies that a scenario's sources can give.
enum ScenarioReply {
    private struct Unknown: Error, CustomStringConvertible { let description: String }

    static func failure(_ words: [String]) throws -> QueryFailure {
        switch words.first {
        case "timed-out": .timedOut(tries: 1)
        case "unreachable": .unreachable("refused")
        case "untrusted": .untrusted("wrong_name")
        case "malformed": .malformed("nonsense")
        case "http": .httpStatus(Int(words.last ?? "") ?? 0)
        case "over-quota": .overQuota(retryAfterMilliseconds: 1_000)
        case "not-covered": .notCovered
        default: throw Unknown(description: "no failure: \(words)")
        }
    }

    /// `ADDRESS[,ADDRESS] ttl N [via ALIAS ttl N]`, `no-data [soa N]`, `no-such-name [soa N]`,
    /// `servfail`, `refused`.
    static func testimony(
        _ words: [String], _ question: Question, by label: String
    ) throws -> Testimony {
        let soa = words.firstIndex(of: "soa").flatMap { UInt32(words[$0 + 1]) }
        switch words.first ?? "" {
        case "no-data": return Said.nothing(.noError, soa: soa, to: question, by: label)
        case "no-such-name": return Said.nothing(.noSuchName, soa: soa, to: question, by: label)
        case "servfail": return Said.nothing(.serverFailure, to: question, by: label)
        case "refused": return Said.nothing(.refused, to: question, by: label)
        case let list:
            guard words.count >= 3, let ttl = UInt32(words[2]) else {
                throw Unknown(description: "no answer: \(words)")
            }
            var records: [ResourceRecord] = []
            var owner = question.name.text
            if words.count >= 7, words[3] == "via", let aliasTTL = UInt32(words[6]) {
                records.append(try Said.alias(owner, aliasTTL, words[4]))
                owner = words[4]
            }
            for address in list.split(separator: ",") {
                records.append(try Said.record(owner, ttl, String(address)))
            }
            return Testimony(
                question: question, code: .noError, answers: records,
                source: Testimony.Source(resolver: label, transport: .udp))
        }
    }
}
