internal import CHTTPDNSSystem
internal import HTTPDNS
internal import HTTPDNSExchange
internal import HTTPDNSForwardProxy
internal import HTTPDNSNames

/// One `proxy`: serves until it is told to end.
struct ProxyRun {
    let plan: ProxyPlan
    let console: Console

    /// - Throws: ``CommandFault``: why it cannot serve.
    func run() async throws(CommandFault) -> ExitCode {
        guard !plan.printsEnvironment else { return try printEnvironment() }
        // Each tunnel takes two.
        httpdns_descriptor_limit_raise(ProxyRun.wantedDescriptors)
        let httpdns = try await ClientAssembly(
            configuration: plan.configuration, resolvers: plan.resolvers,
            overrides: plan.overrides, trust: plan.trust,
            patience: ExchangeLimits().resolve, console: console
        ).httpdns()
        var settings = plan.settings
        let (plan, console) = (plan, console)
        settings.capture = plan.capture?.capture
        settings.observer = { ProxyRun.tell($0, plan, console) }
        let proxy: ForwardProxy
        do throws(ForwardProxyFault) { proxy = try ForwardProxy(httpdns, settings) } catch {
            throw ProxyRun.fault(error)
        }
        announce(proxy)
        await Interruption.awaiting(interrupted: ()) { _ in }
        await proxy.stop(grace: plan.grace)
        let lost = await plan.capture?.finish(console)
        if plan.isJSON { console.print(json: ProxyRendering.stopped(proxy.counts, lost)) }
        return .interrupted
    }

    private func printEnvironment() throws(CommandFault) -> ExitCode {
        guard let port = plan.settings.port else {
            throw .usage("--print-env needs a port: --listen 127.0.0.1:8353")
        }
        do throws(ForwardProxyFault) { try ForwardProxy.check(plan.settings) } catch {
            throw ProxyRun.fault(error)
        }
        // Who listens on all addresses is reached by programs of this machine on loopback.
        let place = "\(plan.settings.address.nearby.uriText):\(port)"
        let token = plan.settings.token
        ProxyHints.environment(place, token: token).forEach(console.print)
        if token != nil, console.output.isTerminal {
            console.note("the token stands in these lines; they are meant for eval \"$(…)\"")
        }
        return .succeeded
    }

    private func announce(_ proxy: ForwardProxy) {
        let place = Endpoint(
            address: proxy.endpoint.address.nearby, port: proxy.endpoint.port
        ).description
        if plan.isJSON {
            return console.print(
                json: ProxyRendering.listening(place, connections: proxy.maximumConnections))
        }
        let hint = plan.tokenHint
        let isEverywhere = proxy.endpoint.address.isNull
        console.print(
            "httpdns proxy at http://\(place)"
                + (isEverywhere ? ", and at every other address of this machine" : ""))
        console.print("curl      curl -x http://\(place) https://example.com/")
        let others = plan.settings.address.isLoopback ? "" : " --serve-other-machines"
        console.print(
            "shell     eval \"$(httpdns proxy --print-env --listen \(proxy.endpoint)\(others)\(hint))\""
        )
        console.print(
            "browsers  HTTP and HTTPS proxy \(place), or the configuration http://\(place)/proxy.pac"
        )
        console.print("Ctrl-C ends it.")
    }

    private static func tell(_ event: ForwardProxyEvent, _ plan: ProxyPlan, _ console: Console) {
        if plan.isJSON { console.print(json: ProxyRendering.json(event)) }
        switch event {
        case .acceptingPaused(let why): console.note("no connection is accepted: \(why)")
        case .opened, .ended:
            guard plan.isVerbose else { return }
            ProxyRendering.lines(event).forEach(console.note)
        }
    }

    private static func fault(_ fault: ForwardProxyFault) -> CommandFault {
        switch fault {
        case .beyondLoopback:
            .usage("--listen: \(fault) (--serve-other-machines, which needs a token)")
        case .tokenMissing: .usage("--serve-other-machines: \(fault): --token-env or --token-file")
        case .badToken: .usage("the token: \(fault)")
        case .cannotListen: .usage("--listen: \(fault)")
        }
    }

    /// Because: tens of thousands of tunnels are more than one machine's programs open.
    private static let wantedDescriptors: UInt64 = 65_536
}
