internal import Foundation
package import HTTPDNSCapture
package import HTTPDNSClient
internal import HTTPDNSExchange
public import HTTPDNSNames
internal import HTTPDNSPlatform

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// Which requests of a session go through HTTPDNS.
///
/// The others go to the stock loader: they are resolved by the system and not verified by this
/// library. Names are compared label by label, so that `notexample.com` is never under
/// `example.com`. These rules are read in order:
///
/// 1. `ws`, `wss`, `file` and all else but `http` and `https` pass.
/// 2. A URL that cannot be read, or whose host Foundation and this library read differently, is
///    taken, so that it fails here and is looked up by nobody.
/// 3. Addresses, `localhost` and the servers of the resolver are as the properties say.
/// 4. ``passed`` pass.
/// 5. Where ``only`` is set, the rest passes but those.
public struct InterceptionScope: Sendable, Hashable {
    /// Host names, with all names under them, that alone are taken; nil for all.
    public var only: [HostName]?
    /// Host names, with all names under them, that pass.
    public var passed: [HostName]
    /// Take `https://192.0.2.1/` and the like: nothing is looked up, and the certificate must name
    /// the address. Never where ``only`` is set.
    public var takesAddresses = true
    /// Take `localhost` and names under it, which lead to this machine.
    public var takesLocalhost = true
    /// Take the hosts of the resolver's own servers, where they were configured by name.
    public var takesResolvers = false

    /// Everything over `http` and `https` but the resolver's own servers.
    public static let everything = InterceptionScope(passing: [])

    /// All requests, or those to `only`, but those to `names`; names under them are meant as well.
    public init(only: [HostName]? = nil, passing names: [HostName] = []) {
        self.only = only
        passed = names
    }

    /// True for what is taken.
    func covers(_ url: URL?, resolvers: Set<HostName>) -> Bool {
        guard let url, let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else { return false }
        guard let text = url.host, let read = try? RecentURLs.shared.reading(url.absoluteString)
        else { return true }
        switch read.url.origin.host {
        case .address(let address):
            let theirs = text.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            guard (try? IPAddress(theirs)) == address else { return true }
            return takesAddresses && only == nil
        case .name(let name):
            guard text == name.text || (try? HostName(text)) == name else { return true }
            return covers(name, resolvers)
        }
    }

    private func covers(_ name: HostName, _ resolvers: Set<HostName>) -> Bool {
        if name.labels.last == "localhost", !takesLocalhost { return false }
        if !takesResolvers, resolvers.contains(name) { return false }
        if passed.contains(where: { name.isSameOrUnder($0) }) { return false }
        return only?.contains { name.isSameOrUnder($0) } ?? true
    }
}

/// One installation: a client, which requests it takes, and what rules say about them.
package struct Installation: Sendable {
    package let client: HTTPDNSClient
    package let scope: InterceptionScope
    /// The hosts of the resolver's own servers.
    package let resolvers: Set<HostName>
    /// Nil: every request goes out as it is.
    package let rules: LiveRules?
    /// Records what it takes, and what it lets pass; nil: whoever watches the client.
    package var capture: Capture?

    package init(
        client: HTTPDNSClient, scope: InterceptionScope, resolvers: Set<HostName> = [],
        rules: LiveRules? = nil
    ) {
        self.client = client
        self.scope = scope
        self.resolvers = resolvers
        self.rules = rules
    }

    /// True for a request that is answered here. Called with Foundation's locks held.
    func takes(_ request: URLRequest) -> Bool {
        guard let reason = reasonToPass(request) else { return true }
        notePassed(request, reason)
        return false
    }

    private func reasonToPass(_ request: URLRequest) -> ReasonToPass? {
        guard scope.covers(request.url, resolvers: resolvers) || isHeldOffline(request) else {
            return ReasonToPass("out of scope")
        }
        guard let rules, rules.mayPass else { return nil }
        // What cannot be read is taken, and fails here.
        guard
            let ruled = try? RuledReading.request(
                request, toASCII: client.parts.toASCII)
        else { return nil }
        return rules.reasonToPass(ruled, RuledReading.ticket(request))
    }

    /// While nothing may go to the network, no request over HTTP is left to the system's loader.
    private func isHeldOffline(_ request: URLRequest) -> Bool {
        guard rules?.switches.isOffline == true, let scheme = request.url?.scheme?.lowercased()
        else { return false }
        return scheme == "http" || scheme == "https"
    }

    /// The system's loader tells nothing of what it does.
    private func notePassed(_ request: URLRequest, _ reason: ReasonToPass) {
        guard let capture = capture ?? client.parts.tap as? Capture, capture.isEnabled,
            rules?.switches.isCaptureEnabled != false
        else { return }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        var hop = CaptureRecord.Hop(
            method: request.httpMethod ?? "GET", url: request.url?.absoluteString ?? "",
            requestFields: fields.map { CaptureRecord.Field($0.key, $0.value) })
        hop.rules = reason.rules
        var record = CaptureRecord(
            .passed, hop, startedAt: Capture.now, initiator: .init("session"))
        record.reason = reason.text
        if !reason.rules.isEmpty { record.rule = reason.rules.joined(separator: ", ") }
        if let body = request.httpBody {
            record.requestBody.totalOctets = Int64(body.count)
            record.requestBody.omission = .unseen
        }
        capture.add(record)
    }
}

/// Gives every installation a protocol class of its own.
///
/// Foundation makes protocol objects from a class and passes no context, so the class itself must
/// say which installation it belongs to. The classes are instances of a generic type whose
/// parameter spells a number in binary: any number of them exists without being written down.
///
/// Equal installations share a class, and a class keeps its installation for good: a session that
/// was made from a configuration keeps going through HTTPDNS whatever becomes of the configuration.
package final class InstallationTable: Sendable {
    package static let shared = InstallationTable()

    private struct State {
        var installations: [ObjectIdentifier: Installation] = [:]
        var types: [Key: HTTPDNSURLProtocol.Type] = [:]
    }

    private let state = Locked(State())

    private init() {}

    /// What makes two installations equal; client and rules live as long as their entry.
    private struct Key: Hashable {
        let client: ObjectIdentifier
        let scope: InterceptionScope
        let rules: ObjectIdentifier?
        let capture: ObjectIdentifier?
    }

    /// The protocol class bound to `installation`.
    package func type(for installation: Installation) -> HTTPDNSURLProtocol.Type {
        let key = Key(
            client: ObjectIdentifier(installation.client), scope: installation.scope,
            rules: installation.rules.map { ObjectIdentifier($0) },
            capture: installation.capture.map { ObjectIdentifier($0) })
        return state.withLock { state in
            if let type = state.types[key] { return type }
            let type = numberedClass(UInt64(state.types.count + 1), Spelled.self)
            state.types[key] = type
            state.installations[ObjectIdentifier(type)] = installation
            return type
        }
    }

    package func isInstalled(_ type: AnyClass) -> Bool { installation(of: type) != nil }

    func installation(of type: AnyClass) -> Installation? {
        state.withLock { $0.installations[ObjectIdentifier(type)] }
    }
}

private enum Spelled {}
private enum Zero<Rest> {}
private enum One<Rest> {}

private final class NumberedProtocol<Number>: HTTPDNSURLProtocol {}

private func numberedClass<Digits>(
    _ left: UInt64, _: Digits.Type
) -> HTTPDNSURLProtocol.Type {
    guard left > 0 else { return NumberedProtocol<Digits>.self }
    return left & 1 == 0
        ? numberedClass(left >> 1, Zero<Digits>.self) : numberedClass(left >> 1, One<Digits>.self)
}

/// Puts protocol classes into configurations and sessions, and takes them out.
package enum Installer {
    /// At the front, so that it is asked before the built-in loaders.
    package static func install(
        _ installation: Installation, into configuration: URLSessionConfiguration
    ) {
        uninstall(from: configuration)
        let type = InstallationTable.shared.type(for: installation)
        configuration.protocolClasses = [type] + (configuration.protocolClasses ?? [])
    }

    package static func isInstalled(in configuration: URLSessionConfiguration) -> Bool {
        configuration.protocolClasses?.contains { InstallationTable.shared.isInstalled($0) }
            ?? false
    }

    /// Takes out what ``install(_:into:)`` put in. Tasks that run go on, and so do sessions that
    /// were made from the configuration before: they have their own copy.
    package static func uninstall(from configuration: URLSessionConfiguration) {
        configuration.protocolClasses = configuration.protocolClasses?.filter {
            !InstallationTable.shared.isInstalled($0)
        }
    }
}
