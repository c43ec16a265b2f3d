public import Foundation
public import FoundationNetworking
@_exported public import HTTPDNS
public import HTTPDNSCapture
public import HTTPDNSClient
@_exported public import HTTPDNSInterception
@_exported public import HTTPDNSRuleFile
@_exported public import HTTPDNSRules

extension HTTPDNS {
    /// Makes the sessions of a configuration send through HTTPDNS, built-in resolvers.
    ///
    /// To be called before the session is made, which copies its configuration.
    ///
    /// - Throws: ``SetupFault``.
    public static func install(into configuration: URLSessionConfiguration) throws(SetupFault) {
        try HTTPDNS().install(into: configuration)
    }

    /// Makes a session that exists, `URLSession.shared` included, send through HTTPDNS.
    ///
    /// Tasks resumed from then on are answered; those that run go on as they are.
    ///
    /// - Throws: ``SetupFault``.
    public static func install(into session: URLSession) throws(SetupFault) {
        try HTTPDNS().install(into: session)
    }

    /// Makes the sessions of a configuration send through this.
    ///
    /// - Parameters:
    ///   - configuration: to be given to a session afterwards.
    ///   - scope: which requests are taken; the others go to the stock loader.
    ///   - rules: what happens to those that are taken; keep it to change the rules later, and to see
    ///     what they did. Nil: they go out as they are.
    ///   - capture: records the requests of these sessions; nil: ``HTTPDNSConfiguration/capture`` does.
    public func install(
        into configuration: URLSessionConfiguration,
        scope: InterceptionScope = .everything, rules: LiveRules? = nil, capture: Capture? = nil
    ) {
        var installation = Installation(
            client: client, scope: scope, resolvers: resolverHosts, rules: rules)
        installation.capture = capture
        Installer.install(installation, into: configuration)
    }

    /// Makes a session that exists send through this.
    ///
    /// - Parameters:
    ///   - session: its configuration is read anew at each resume on this platform.
    ///   - scope: which requests are taken; the others go to the stock loader.
    ///   - rules: as for a configuration.
    ///   - capture: as for a configuration.
    public func install(
        into session: URLSession, scope: InterceptionScope = .everything,
        rules: LiveRules? = nil, capture: Capture? = nil
    ) {
        install(into: session.configuration, scope: scope, rules: rules, capture: capture)
    }

    /// Makes a session that sends through HTTPDNS, built-in resolvers.
    ///
    /// - Throws: ``SetupFault``.
    public static func session(
        configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil
    ) throws(SetupFault) -> URLSession {
        try HTTPDNS().session(
            configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
    }

    /// Makes a session that sends through this; the configuration itself stays as it is.
    ///
    /// - Parameters:
    ///   - configuration: the session's; another session may be made from it.
    ///   - delegate: the session's.
    ///   - delegateQueue: where the delegate is told; nil for a serial queue of its own.
    ///   - scope: which requests are taken; the others go to the stock loader.
    ///   - rules: what happens to those that are taken; nil: they go out as they are.
    public func session(
        configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil,
        scope: InterceptionScope = .everything, rules: LiveRules? = nil, capture: Capture? = nil
    ) -> URLSession {
        let own = configuration.copy() as? URLSessionConfiguration ?? configuration
        install(into: own, scope: scope, rules: rules, capture: capture)
        return URLSession(configuration: own, delegate: delegate, delegateQueue: delegateQueue)
    }

    /// Gives a configuration back to the stock loader; tasks that run go on.
    public static func uninstall(from configuration: URLSessionConfiguration) {
        Installer.uninstall(from: configuration)
    }

    /// Gives a session back to the stock loader; tasks that run go on.
    public static func uninstall(from session: URLSession) {
        uninstall(from: session.configuration)
    }
}
