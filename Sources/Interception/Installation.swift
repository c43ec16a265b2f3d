internal import Foundation
package import FoundationNetworking
package import HTTPDNSClient
internal import HTTPDNSExchange
public import HTTPDNSNames
internal import HTTPDNSPlatform

/// Which requests of a session go through HTTPDNS.
public struct InterceptionScope: Sendable, Hashable {
    /// Host names, with all names under them, that are left to the stock loader. Such requests are
    /// resolved by the system and not verified by this library.
    public let passed: [HostName]

    /// Everything over `http` and `https`.
    public static let everything = InterceptionScope(passing: [])

    /// All requests but those to `names` and to names under them.
    public init(passing names: [HostName]) { passed = names }

    /// `ws`, `wss`, `file` and the like pass; a URL that cannot be read, or whose host Foundation and
    /// this library read differently, is ours, so that it fails here and is looked up by nobody.
    func covers(_ url: URL?) -> Bool {
        guard let url, let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else { return false }
        guard !passed.isEmpty, let text = url.host, let host = try? HostName(text),
            let read = try? HTTPURL(url.absoluteString), read.origin.host == .name(host)
        else { return true }
        return !passed.contains { host.isSameOrUnder($0) }
    }
}

/// One installation: a client, and which requests it takes.
package struct Installation: Sendable {
    package let client: HTTPDNSClient
    package let scope: InterceptionScope

    package init(client: HTTPDNSClient, scope: InterceptionScope) {
        self.client = client
        self.scope = scope
    }
}

/// Gives every installation a protocol class of its own.
///
/// Foundation makes protocol objects from a class and passes no context, so the class itself must say
/// which installation it belongs to. The classes are instances of a generic type whose parameter spells
/// a number in binary: any number of them exists without being written down.
///
/// Equal installations share a class, and a class keeps its installation for good: a session that was
/// made from a configuration keeps going through HTTPDNS whatever becomes of the configuration.
package final class InstallationTable: Sendable {
    package static let shared = InstallationTable()

    private struct State {
        var installations: [ObjectIdentifier: Installation] = [:]
        var types: [Key: HTTPDNSURLProtocol.Type] = [:]
    }

    private let state = Locked(State())

    private init() {}

    /// What makes two installations equal; the client lives as long as its entry.
    private struct Key: Hashable {
        let client: ObjectIdentifier
        let scope: InterceptionScope
    }

    /// The protocol class bound to `installation`.
    package func type(for installation: Installation) -> HTTPDNSURLProtocol.Type {
        let key = Key(client: ObjectIdentifier(installation.client), scope: installation.scope)
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

    /// Takes out what ``install(_:into:)`` put in. Tasks that run go on, and so do sessions that were
    /// made from the configuration before: they have their own copy.
    package static func uninstall(from configuration: URLSessionConfiguration) {
        configuration.protocolClasses = configuration.protocolClasses?.filter {
            !InstallationTable.shared.isInstalled($0)
        }
    }
}
