internal import HTTPDNS
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPlatform
internal import HTTPDNSPublicSuffix
internal import HTTPDNSTrust

/// What came of judging one peer, or one chain of a file.
struct PeerVerdict: Sendable {
    /// What was asked for: `example.com:443`, or the file.
    let subject: String
    let host: Host
    var endpoint: Endpoint?
    /// Who gave the address: `google`, `--connect`.
    var giver: String?
    /// `TLSv1.3`, and the cipher.
    var version: String?
    var cipher: String?
    /// The moment was given by `--at`.
    var isAsOf = false
    let result: Result<VerifiedPeer, Trouble>

    /// Why there is no proof.
    enum Trouble: Error, Sendable {
        case untrusted(TrustFailure)
        /// Nobody was judged: a label, the words, and the exit code.
        case unreached(String, String, ExitCode)
    }

    var code: ExitCode {
        switch result {
        case .success: .succeeded
        case .failure(.untrusted): .negative
        case .failure(.unreached(_, _, let code)): code
        }
    }

    /// The verified chain, or what was presented.
    var chain: [CertificateFacts] {
        switch result {
        case .success(let peer): peer.chain
        case .failure(.untrusted(let failure)): failure.facts.chain
        case .failure(.unreached): []
        }
    }

    /// The message of a refusal, with what this tool can do about it.
    func message(_ failure: TrustFailure) -> String {
        let message = failure.message(route: route, isAsOf: isAsOf)
        let isOfAuthority = [TrustFailure.Code.unknownIssuer, .selfSigned].contains(failure.code)
        return isOfAuthority ? message + "\n" + PeerVerdict.rootHint : message
    }

    /// For an authority of one's own.
    static let rootHint = "Roots of your own are given by --cacert FILE."

    /// How the peer was reached, for a message: `connected to 127.0.0.1:443, given by google`.
    var route: String? {
        endpoint.map { "connected to \($0)" + (giver.map { ", an address given by \($0)" } ?? "") }
    }
}

/// Connects to peers and judges them; no request is sent.
struct PeerCheck {
    let arguments: ParsedArguments
    let configuration: ToolConfiguration
    let console: Console
    private let timeout: Duration

    static let options: [OptionRule] =
        [.connect, .resolver, .cacert, .at, .timeout, .json, .verbose, .config]
        + ResolverArguments.options

    /// - Throws: ``CommandFault``.
    init(
        _ arguments: ParsedArguments, _ configuration: ToolConfiguration, _ console: Console
    ) throws(CommandFault) {
        self.arguments = arguments
        self.configuration = configuration
        self.console = console
        timeout = try arguments.duration(.timeout) ?? .seconds(10)
    }

    /// A verifier for a policy, at the time of `--at`.
    ///
    /// - Throws: ``CommandFault``: the roots cannot be loaded.
    static func verifier(
        _ policy: TrustPolicy, at moment: WallTime?
    ) throws(CommandFault) -> OpenSSLVerifier {
        let clock: any WallSource = moment.map { FixedWallClock(time: $0) } ?? SystemWallClock()
        do throws(TrustSetupError) {
            return try OpenSSLVerifier(
                policy: policy,
                isPublicSuffix: { text in
                    (try? HostName(text)).map { PublicSuffix.isPublicSuffix($0) } ?? false
                }, clock: clock)
        } catch { throw .usage("\(error)") }
    }

    /// Judges the peer of `target` under `policy`.
    ///
    /// - Throws: ``CommandFault``: what cannot even be tried.
    func verdict(
        on target: PeerTarget, under policy: TrustPolicy
    ) async throws(CommandFault) -> PeerVerdict {
        let verifier = try PeerCheck.verifier(policy, at: try arguments.moment())
        let found: Addresses
        switch try await addresses(of: target, under: policy.pins) {
        case .success(let addresses): found = addresses
        case .failure(let trouble):
            return PeerVerdict(
                subject: target.description, host: target.host, result: .failure(trouble))
        }
        if arguments.has(.verbose) {
            let list = found.endpoints.map(\.description).joined(separator: ", ")
            console.note("\(target.description): \(list), given by \(found.giver)")
        }
        let milliseconds = Int64(timeout / .milliseconds(1))
        var verdict = await PeerCheck.offPool {
            PeerCheck.judge(target, found, verifier, milliseconds: milliseconds)
        }
        verdict.isAsOf = arguments.has(.at)
        return verdict
    }

    private struct Addresses: Sendable {
        let endpoints: [Endpoint]
        let giver: String
    }

    private func addresses(
        of target: PeerTarget, under pins: PinSet
    ) async throws(CommandFault) -> Result<Addresses, PeerVerdict.Trouble> {
        if let text = arguments.value(.connect) {
            let endpoint = try PeerTarget.endpoint(text, port: target.port)
            return .success(Addresses(endpoints: [endpoint], giver: "--connect"))
        }
        switch target.host {
        case .address(let address):
            let endpoint = Endpoint(address: address, port: target.port)
            return .success(Addresses(endpoints: [endpoint], giver: "you"))
        case .name(let name): return try await resolved(name, port: target.port, under: pins)
        }
    }

    private func resolved(
        _ name: HostName, port: Port, under pins: PinSet
    ) async throws(CommandFault) -> Result<Addresses, PeerVerdict.Trouble> {
        let named = arguments.values(.resolver).map {
            $0.hasPrefix("@") ? String($0.dropFirst()) : $0
        }
        let httpdns = try await ClientAssembly(
            configuration: configuration,
            resolvers: try ResolverArguments(named, arguments, configuration, console),
            overrides: configuration.overrides, trust: TrustPolicy(pins: pins),
            patience: timeout, console: console
        ).httpdns()
        do throws(ResolutionFailure) {
            let resolved = try await httpdns.resolver.resolve(
                .name(name), patience: timeout)
            return .success(
                Addresses(
                    endpoints: resolved.addresses.map { Endpoint(address: $0, port: port) },
                    giver: resolved.source.resolver))
        } catch {
            return .failure(
                .unreached(error.label, "\(name): \(error)", FetchTrouble.exitCode(error)))
        }
    }

    /// Tries one address after the other until one can be judged. Blocks.
    private static func judge(
        _ target: PeerTarget, _ found: Addresses, _ verifier: OpenSSLVerifier,
        milliseconds: Int64
    ) -> PeerVerdict {
        let probe = TLSProbe(verifier: verifier, timeoutMilliseconds: milliseconds)
        var last = PeerVerdict(
            subject: target.description, host: target.host, giver: found.giver,
            result: .failure(
                .unreached("no_data", "\(target.host): no address to connect to", .negative)))
        for endpoint in found.endpoints {
            let verdict = { (result: Result<VerifiedPeer, PeerVerdict.Trouble>) in
                PeerVerdict(
                    subject: target.description, host: target.host, endpoint: endpoint,
                    giver: found.giver, result: result)
            }
            do throws(TLSProbe.Failure) {
                let success = try probe.connect(to: endpoint, host: target.host)
                var accepted = verdict(.success(success.peer))
                accepted.version = success.version
                accepted.cipher = success.cipher
                return accepted
            } catch {
                last = verdict(.failure(trouble(error, target)))
                if case .untrusted = error { return last }
            }
        }
        return last
    }

    private static func trouble(
        _ failure: TLSProbe.Failure, _ target: PeerTarget
    ) -> PeerVerdict.Trouble {
        switch failure {
        case .untrusted(let failure): .untrusted(failure)
        case .unreachable: .unreached("cannot_connect", "\(failure)", .noReply)
        case .timedOut: .unreached("timed_out", "\(failure)", .noReply)
        case .handshake:
            .unreached("handshake_failed", "\(target.host): \(failure)", .noReply)
        case .unexpected: .unreached("unexpected", "\(failure)", .serverFailure)
        }
    }

    /// Runs what blocks on a thread of its own.
    private static func offPool(
        _ body: @escaping @Sendable () -> PeerVerdict
    ) async -> PeerVerdict {
        await withCheckedContinuation { continuation in
            let isStarted = DetachedThread.start(named: "verify") {
                continuation.resume(returning: body())
            }
            // Without a thread it is slower, not wrong.
            if !isStarted { continuation.resume(returning: body()) }
        }
    }
}
