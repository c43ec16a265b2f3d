internal import HTTPDNS
internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSJSON
internal import HTTPDNSPlatform

extension OptionRule {
    static let cache = OptionRule(
        "cache", value: "DIR", "keep responses in this directory, and answer with them")
    static let cacheMode = OptionRule(
        "cache-mode", value: "MODE",
        "standard, prefer (what is kept, however old), only (nothing is sent) or refresh")
    static let cacheHTTP = OptionRule("cache-http", "keep what came over plain http, too")

    static let fetchCache: [OptionRule] = [.cache, .cacheMode, .cacheHTTP]
}

/// What `fetch` is told about keeping responses.
enum FetchCache {
    /// Nil: none are kept.
    ///
    /// - Throws: ``CommandFault``: the option at fault.
    static func settings(
        _ arguments: ParsedArguments
    ) throws(CommandFault) -> OfflineCacheSettings? {
        guard let directory = arguments.value(.cache) else {
            for option in [OptionRule.cacheMode, .cacheHTTP] where arguments.has(option) {
                throw .usage("--\(option.name) belongs to --cache DIR, which is not given")
            }
            return nil
        }
        guard !directory.isEmpty else { throw .usage("--cache names no directory") }
        var settings = OfflineCacheSettings(directory: directory)
        settings.keepsPlainHTTP = arguments.has(.cacheHTTP)
        if let text = arguments.value(.cacheMode) {
            guard let mode = CacheMode(rawValue: text), modes.contains(mode) else {
                throw .usage(
                    "--cache-mode \(quoted(text)) is none of "
                        + modes.map(\.rawValue).joined(separator: ", "))
            }
            settings.mode = mode
        }
        return settings
    }

    /// Nothing is sent where what was asked for cannot be kept.
    ///
    /// - Throws: ``CommandFault``: why the directory cannot be used.
    static func check(_ httpdns: HTTPDNS) async throws(CommandFault) {
        guard let why = await httpdns.offlineCache?.obstacle() else { return }
        throw .usage("--cache cannot be used: \(why)")
    }

    private static let modes: [CacheMode] = [.standard, .preferCache, .onlyIfCached, .refresh]

    /// Nothing kept could answer, and nothing was to be sent; nil for any other end.
    static func trouble(_ report: ExchangeReport) -> FetchTrouble? {
        guard let hop = report.hops.last, let cache = hop.cache, cache.outcome == .unsatisfied
        else { return nil }
        let why =
            switch cache.remark {
            case "must_validate": "what is kept must be validated by the origin first"
            case "policy_changed": "what is kept was proved under other trust settings"
            case "method": "only GET and HEAD are answered"
            default: "nothing is kept for it"
            }
        return FetchTrouble(
            label: "not_kept",
            message: "\(hop.url): \(why), and nothing is sent with --cache-mode only",
            code: .negative)
    }
}

/// Lines that are shown once it is known that the command can do its work; those of one that cannot
/// would say the same twice.
final class HeldNotes: Sendable {
    /// Nil once they go through.
    private let held = Locked<[String]?>([])
    private let console: Console

    init(_ console: Console) { self.console = console }

    func add(_ line: String) {
        let isHeld = held.withLock { held in
            held?.append(line)
            return held != nil
        }
        if !isHeld { console.note(line) }
    }

    func release() {
        let lines = held.withLock { held in
            defer { held = nil }
            return held
        }
        for line in lines ?? [] { console.note(line) }
    }
}

// What the cache had to do with it
extension FetchRendering {
    static func cache(_ provenance: CacheProvenance) -> JSONValue {
        [
            "outcome": .string(provenance.outcome.rawValue),
            "age": provenance.ageSeconds.map { .integer($0) } ?? .null,
            "remark": provenance.remark.map { .string($0) } ?? .null,
        ]
    }

    /// A row of the timeline.
    static func cacheRow(_ provenance: CacheProvenance) -> (String, String) {
        let age =
            provenance.ageSeconds.map {
                ", \(DurationText.short(seconds: UInt32(clamping: $0))) old"
            } ?? ""
        let remark = provenance.remark.map { ": \($0)" } ?? ""
        return ("cache", provenance.outcome.rawValue + age + remark)
    }
}
