internal import Foundation
package import FoundationNetworking
package import HTTPDNSClient
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Which requests of a session go through HTTPDNS.
public struct InterceptionScope: Sendable {
    /// Host names, with all names under them, that are left to the stock loader. Such requests are
    /// resolved by the system and not verified by this library.
    public var passedSuffixes: [String]

    /// Everything over `http` and `https`.
    public static let everything = InterceptionScope(passedSuffixes: [])

    /// All requests but those to `passedSuffixes`.
    public init(passedSuffixes: [String]) {
        self.passedSuffixes = passedSuffixes
        names = passedSuffixes.compactMap { try? HostName($0) }
    }

    private let names: [HostName]

    /// `ws`, `wss`, `file` and the like pass; a URL that cannot be read is ours, so that it fails
    /// here and not by a lookup of the system's.
    func covers(_ url: URL?) -> Bool {
        guard let url, let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else { return false }
        guard !names.isEmpty, let text = url.host, let host = try? HostName(text) else {
            return true
        }
        return !names.contains { host.isSameOrUnder($0) }
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
package final class InstallationTable: Sendable {
    package static let shared = InstallationTable()

    private struct State {
        var installations: [ObjectIdentifier: Installation] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    private init() {}

    /// A new protocol class bound to `installation`.
    package func add(_ installation: Installation) -> HTTPDNSURLProtocol.Type {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let type = numberedClass(number, Spelled.self)
        state.withLock { $0.installations[ObjectIdentifier(type)] = installation }
        return type
    }

    package func remove(_ type: AnyClass) -> Bool {
        state.withLock { $0.installations.removeValue(forKey: ObjectIdentifier(type)) != nil }
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
        let type = InstallationTable.shared.add(installation)
        configuration.protocolClasses = [type] + (configuration.protocolClasses ?? [])
    }

    /// Takes out what ``install(_:into:)`` put in; the tasks that run go on.
    package static func uninstall(from configuration: URLSessionConfiguration) {
        let classes = configuration.protocolClasses ?? []
        configuration.protocolClasses = classes.filter { !InstallationTable.shared.isInstalled($0) }
        for type in classes { _ = InstallationTable.shared.remove(type) }
    }
}
