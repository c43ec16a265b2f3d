internal import HTTPDNS
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// One `fetch`: puts the library together, sends, and passes the body on as it arrives.
struct FetchRun {
    let plan: FetchPlan
    let console: Console
    /// Records what happens; nil: nobody does.
    var capture: FetchCapture?
    /// Where cookies come from and go to; nil: nowhere.
    var cookies: CookieFile?

    /// - Throws: ``CommandFault``: what cannot even be tried.
    func run() async throws(CommandFault) -> ExitCode {
        let httpdns = try await assembled()
        var sink = BodySink(plan, console)
        let outcome = await recorded(await exchanged(httpdns.client, &sink))
        sink.clearProgress()
        await httpdns.offlineCache?.flush()
        let unkept = await keep(httpdns)
        report(outcome, unkept, sink)
        return max(unkept?.code ?? .succeeded, outcome.trouble?.code ?? .succeeded)
    }

    /// How one request ended.
    struct Outcome: Sendable {
        var report: ExchangeReport
        var trouble: FetchTrouble?
    }

    func assembled() async throws(CommandFault) -> HTTPDNS {
        if let file = plan.file { try WrittenFile.check(file) }
        for note in plan.notes + (plan.isVerbose ? plan.remarks : []) { console.note(note) }
        let notes = HeldNotes(console)
        let httpdns = try await ClientAssembly(
            configuration: plan.configuration, resolvers: plan.resolvers,
            overrides: plan.overrides, trust: plan.trust, cache: plan.cache,
            report: { notes.add($0) },
            patience: plan.timeout ?? ExchangeLimits().resolve, console: console,
            capture: capture?.capture
        ).httpdns()
        try await FetchCache.check(httpdns)
        notes.release()
        if let cookies { httpdns.cookies = cookies.start }
        return httpdns
    }

    /// Writes what is to outlive the command; told in lines, whatever came of the request.
    ///
    /// - Returns: what could not be written.
    func keep(_ httpdns: HTTPDNS) async -> FetchTrouble? {
        let lost = await capture?.finish(console)
        guard let cookies else { return lost }
        do throws(CommandFault) { try cookies.write(httpdns.cookies) } catch {
            console.complain(error, of: "fetch")
            return FetchTrouble(label: "output_failed", message: error.message, code: error.code)
        }
        return lost
    }

    private func exchanged(_ client: HTTPDNSClient, _ sink: inout BodySink) async -> Outcome {
        let response: HTTPResponse
        do throws(ExchangeFailure) {
            response = try await client.send(plan.outgoing, within: plan.rules)
        } catch {
            return Outcome(report: error.report, trouble: FetchTrouble(error))
        }
        // A file of an earlier answer stays.
        if let trouble = FetchCache.trouble(response.body.report) {
            return Outcome(report: response.body.report, trouble: trouble)
        }
        do {
            sink.announce(length: length(response.head))
            if plan.includesHead { try sink.write(head: text(response.head)) }
            var body = response.body.makeAsyncIterator()
            while let chunk = try await body.nextChunk() { try sink.write(body: chunk) }
            try sink.finish()
            return Outcome(report: response.body.report)
        } catch let failure as ExchangeFailure {
            return Outcome(report: failure.report, trouble: truncated(failure, sink))
        } catch {
            let trouble = FetchTrouble(
                label: "output_failed", message: (error as? CommandFault)?.message ?? "\(error)",
                code: .usage)
            return Outcome(report: response.body.report, trouble: trouble)
        }
    }

    /// A failure in the body, with the word on what came before it.
    private func truncated(_ failure: ExchangeFailure, _ sink: BodySink) -> FetchTrouble {
        let trouble = FetchTrouble(failure)
        let kept =
            sink.partialFile.map {
                "\($0) holds the \(sink.bodyOctets) octets that came; it is incomplete"
            } ?? "the body is incomplete: \(sink.bodyOctets) octets came"
        return FetchTrouble(
            label: trouble.label, message: trouble.message + "\n" + kept, code: trouble.code)
    }

    private func length(_ head: ResponseHead) -> Int64? {
        // An encoded body is longer when it is decoded.
        guard !head.fields.contains("Content-Encoding") else { return nil }
        return head.fields.first("Content-Length").flatMap { Int64($0) }
    }

    private func text(_ head: ResponseHead) -> String {
        let lines = head.fields.fields.map { $0.name.printable + ": " + $0.value.printable }
        return (["HTTP/\(head.version.rawValue) \(head.status)"] + lines)
            .map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// - Parameter unkept: told in lines already; the one object has room for one error, and that of
    ///   the request is the nearer one.
    private func report(_ outcome: Outcome, _ unkept: FetchTrouble?, _ sink: BodySink) {
        if plan.isVerbose {
            let lines = FetchRendering.timeline(
                outcome.report, bytes: sink.bodyOctets, console.errorPaint, trust: plan.trust)
            console.errors.write(lines.map { $0 + "\n" }.joined())
        }
        if plan.isJSON {
            console.print(
                json: FetchRendering.json(
                    url: plan.url, report: outcome.report, bytes: sink.bodyOctets,
                    trouble: outcome.trouble ?? unkept, trust: plan.trust,
                    notes: plan.notes + plan.remarks))
        } else if let trouble = outcome.trouble {
            for line in trouble.message.split(separator: "\n", omittingEmptySubsequences: false) {
                console.note(String(line))
            }
        }
    }
}

extension HTTPDNSClient {
    /// Under rules where there are some.
    func send(
        _ request: HTTPRequest, within rules: LiveRules?
    ) async throws(ExchangeFailure) -> HTTPResponse {
        guard let rules else { return try await send(request) }
        return try await send(request, under: rules)
    }
}
