internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames

/// Connects to addresses none of which ever answers, in a time of its own.
struct RaceOperations {
    private let addresses: [IPAddress]
    private var race: AddressRace
    private var failsAt: [Int: Monotonic] = [:]
    private var created: [IPAddress] = []
    private var mostAtOnce = 0
    private let failMilliseconds: [IPAddress.Family: Int64]

    /// - Parameters:
    ///   - v6: the answer to AAAA.
    ///   - v4: the answer to A.
    init(
        v6: [IPAddress], v4: [IPAddress], delayMilliseconds: Int64,
        failMilliseconds: [IPAddress.Family: Int64]
    ) throws(ConformanceRequest.Fault) {
        let joined = ResolvedHost.interleaved([v6, v4])
        do throws(NameError) {
            let host = Host.name(try HostName("race.example.test"))
            addresses = AddressRank().ordered(joined, for: host, now: .zero)
        } catch { throw ConformanceRequest.Fault(description: "\(error)") }
        race = AddressRace(addressCount: addresses.count, delayMilliseconds: delayMilliseconds)
        self.failMilliseconds = failMilliseconds
    }

    /// Runs to the end: each step dials an address or ends one, so there are as many as twice the
    /// addresses.
    mutating func run() -> JSONObject {
        var now = Monotonic.zero
        dial(race.dialNext(now: now), now)
        while let end = failsAt.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            if race.nextAt < end.value {
                now = race.nextAt
                dial(race.timeReached(now: now), now)
            } else {
                now = end.value
                failsAt[end.key] = nil
                if race.failed(end.key) { dial(race.dialNext(now: now), now) }
            }
        }
        return [
            "ok": false, "error": "could_not_connect",
            "created_v4": .integer(Int64(created.count { $0.family == .ipv4 })),
            "created_v6": .integer(Int64(created.count { $0.family == .ipv6 })),
            "first_family": created.first.map { $0.family == .ipv4 ? "v4" : "v6" } ?? .null,
            "max_concurrent": .integer(Int64(mostAtOnce)),
            "duration_ms": .integer(now.milliseconds(since: .zero)),
        ]
    }

    private mutating func dial(_ place: Int?, _ now: Monotonic) {
        guard let place, addresses.indices.contains(place) else { return }
        let address = addresses[place]
        created.append(address)
        failsAt[place] = now.adding(milliseconds: failMilliseconds[address.family] ?? 0)
        mostAtOnce = max(mostAtOnce, failsAt.count)
    }
}

// Happy Eyeballs
extension ConformanceAdapter {
    static let raceOperations: [String: Operation] = ["he.connect": connect]

    @Sendable private static func connect(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> JSONObject {
        let all = try addresses(try request.text("resolve"))
        let wanted: Set<IPAddress.Family> =
            switch try request.optionalText("family") {
            case "v4": [.ipv4]
            case "v6": [.ipv6]
            default: [.ipv4, .ipv6]
            }
        let fails = try request.object("fail_ms")
        var failMilliseconds: [IPAddress.Family: Int64] = [:]
        for (family, name) in [(IPAddress.Family.ipv4, "v4"), (.ipv6, "v6")] {
            failMilliseconds[family] = try bounded(fails?.optionalInteger(name) ?? 250)
        }
        let usable = all.filter { wanted.contains($0.family) }
        var race = try RaceOperations(
            v6: usable.filter { $0.family == .ipv6 }, v4: usable.filter { $0.family == .ipv4 },
            delayMilliseconds: try bounded(
                request.optionalInteger("he_timeout_ms") ?? AddressRace.attemptDelayMilliseconds),
            failMilliseconds: failMilliseconds)
        return race.run()
    }

    /// `host:port:address,address`, as curl's `--resolve` has it; brackets are optional.
    private static func addresses(
        _ text: String
    ) throws(ConformanceRequest.Fault) -> [IPAddress] {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw ConformanceRequest.Fault(description: "resolve: expected host:port:addresses")
        }
        var addresses: [IPAddress] = []
        for part in parts[2].split(separator: ",") {
            let bare = part.first == "[" && part.last == "]" ? part.dropFirst().dropLast() : part
            do throws(AddressError) { addresses.append(try IPAddress(String(bare))) } catch {
                throw ConformanceRequest.Fault(description: "resolve: \(part): \(error)")
            }
        }
        return addresses
    }

    private static func bounded(_ number: Int64) throws(ConformanceRequest.Fault) -> Int64 {
        guard (0...86_400_000).contains(number) else {
            throw ConformanceRequest.Fault(description: "\(number) ms: expected 0 to a day")
        }
        return number
    }
}
