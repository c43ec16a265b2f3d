internal import HTTPDNSClient
public import HTTPDNSExchange
internal import HTTPDNSNames
public import HTTPDNSPinPolicy
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// What becomes of mismatches of pins: told to the application, and posted to those who want to know.
public struct PinReporting: Sendable {
    /// Is told each report, one at a time, off the threads that carry requests; it may take its time.
    public var onReport: (@Sendable (PinReport) -> Void)?
    /// Where reports go besides the URIs of the rule that did not hold: as JSON, by POST.
    public var reportTo: [HTTPURL] = []
    /// Whether the URIs of rules are reported to.
    public var usesRuleURIs = true
    public var limits = ReportLimits()

    public init() {}
}

/// How many mismatches of pins were seen, and what became of them.
public struct PinReportCounts: Sendable, Hashable {
    public var sighted = 0
    /// Reports that were made: told to the application and posted.
    public var reported = 0
    /// POSTs that were answered with success.
    public var delivered = 0
    /// POSTs that were not; a failure of one is not reported in its turn.
    public var failed = 0
    /// Mismatches without a report, for there were too many.
    public var withheld = 0
}

/// Makes reports of sightings and sends them, one after the other, in a task of its own.
///
/// Never recursive: reports are sent by a client that nobody watches, and never to the host that they
/// are about.
final class PinReporter: PinObserver {
    private struct State {
        var budget: ReportBudget
        var queue: [PinSighting] = []
        var isSending = false
        var isPosting = false
        var counts = PinReportCounts()
        /// Sends reports; made after the client that is watched.
        var sender: HTTPDNSClient?
    }

    private let reporting: PinReporting
    private let clock = SystemMonotonicClock()
    private let state: Locked<State>

    init(_ reporting: PinReporting) {
        self.reporting = reporting
        state = Locked(State(budget: ReportBudget(reporting.limits)))
    }

    var counts: PinReportCounts { state.withLock { $0.counts } }

    func send(with client: HTTPDNSClient) { state.withLock { $0.sender = client } }

    /// Of a resolver. Those met while a report is being sent are only counted: the report may be what
    /// asks the resolver.
    func sightedResolver(_ sighting: PinSighting) {
        let isOfReport = state.withLock { state in
            guard state.isPosting else { return false }
            state.counts.sighted += 1
            state.counts.withheld += 1
            return true
        }
        if !isOfReport { sighted(sighting) }
    }

    func sighted(_ sighting: PinSighting) {
        let now = clock.now()
        let begins = state.withLock { state -> Bool in
            state.counts.sighted += 1
            guard state.queue.count < Self.longestQueue,
                state.budget.take(sighting.host, now: now)
            else {
                state.counts.withheld += 1
                return false
            }
            state.queue.append(sighting)
            defer { state.isSending = true }
            return !state.isSending
        }
        guard begins else { return }
        Task.detached { await self.sendAll() }
    }

    private func sendAll() async {
        while let (sighting, sender) = next() {
            let report = PinReport(sighting, at: SystemWallClock().now())
            reporting.onReport?(report)
            guard let sender else { continue }
            for url in urls(for: report) {
                state.withLock { $0.isPosting = true }
                let isDelivered = await post(report, to: url, with: sender)
                state.withLock { state in
                    state.isPosting = false
                    if isDelivered { state.counts.delivered += 1 } else { state.counts.failed += 1 }
                }
            }
        }
    }

    private func next() -> (PinSighting, HTTPDNSClient?)? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.isSending = false
                return nil
            }
            state.counts.reported += 1
            return (state.queue.removeFirst(), state.sender)
        }
    }

    private func urls(for report: PinReport) -> [HTTPURL] {
        let ofRule =
            reporting.usesRuleURIs
            ? report.mismatch.rule.reportURIs.compactMap { try? HTTPURL($0) } : []
        var seen: Set<HTTPURL> = []
        return (ofRule + reporting.reportTo).filter {
            $0.origin.host != report.host && seen.insert($0).inserted
        }
    }

    private func post(
        _ report: PinReport, to url: HTTPURL, with sender: HTTPDNSClient
    ) async -> Bool {
        var fields = HTTPFields()
        guard (try? fields.append("Content-Type", "application/json")) != nil else { return false }
        var request = HTTPRequest(.post, url, fields: fields, body: .bytes(report.json))
        request.usesCookies = false
        request.followsRedirects = false
        request.limits.total = .seconds(Self.patienceSeconds)
        request.limits.maximumBodyOctets = Self.longestAnswer
        guard let response = try? await sender.send(request) else { return false }
        return (200..<300).contains(response.head.status)
    }

    /// Because: what a burst allows fits, and a report holds two chains.
    private static let longestQueue = 64
    /// Because: nobody waits for it, and the next report does.
    private static let patienceSeconds: Int64 = 30
    /// Because: nothing in it is read.
    private static let longestAnswer: Int64 = 65_536
}

extension PinReport {
    fileprivate init(_ sighting: PinSighting, at moment: WallTime) {
        self.init(
            moment: moment, host: sighting.host, port: sighting.port,
            mismatch: sighting.mismatch, validated: sighting.chain)
        address = sighting.address
        addressGivenBy = sighting.giver
        isRefused = sighting.refusal != nil
        code = sighting.refusal?.label ?? code
    }
}
