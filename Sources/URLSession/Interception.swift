public import FoundationNetworking
public import HTTPDNS
public import HTTPDNSClient
internal import HTTPDNSInterception

/// Turns the interception of sessions on and off.
///
/// There is no swizzling on Linux: sessions that somebody makes later from `.default` cannot be
/// reached. What can be reached are a configuration before its session is made, and every session
/// that exists, `URLSession.shared` too, since a session reads its configuration anew for each task
/// here. For a library that makes its own sessions, give it a configuration that went through
/// ``start(_:through:scope:rules:)-(URLSessionConfiguration,_,_,_)``.
public enum Interception {
    /// The kill switch, for all sessions of the process: false sends every request that begins from
    /// now on to the system's loader, unverified and unresolved by this library. Read once a
    /// request.
    public static var isEnabled: Bool {
        get { KillSwitch.isOn }
        set { KillSwitch.isOn = newValue }
    }

    /// Starts for a session that exists; tasks resumed from now on are taken.
    ///
    /// - Returns: the rules, to be changed and asked while it runs.
    @discardableResult
    public static func start(
        _ session: URLSession = .shared, through httpdns: HTTPDNS,
        scope: InterceptionScope = .everything, rules: LiveRules = []
    ) -> LiveRules {
        httpdns.install(into: session, scope: scope, rules: rules)
        return rules
    }

    /// Starts for the sessions that will be made from a configuration.
    ///
    /// - Returns: the rules, to be changed and asked while it runs.
    @discardableResult
    public static func start(
        _ configuration: URLSessionConfiguration, through httpdns: HTTPDNS,
        scope: InterceptionScope = .everything, rules: LiveRules = []
    ) -> LiveRules {
        httpdns.install(into: configuration, scope: scope, rules: rules)
        return rules
    }

    /// Stops for a session; tasks that run go on as they began.
    public static func stop(_ session: URLSession = .shared) {
        HTTPDNS.uninstall(from: session)
    }

    /// Stops for the sessions that will be made from a configuration; those made before have copies
    /// of their own.
    public static func stop(_ configuration: URLSessionConfiguration) {
        HTTPDNS.uninstall(from: configuration)
    }

    /// True for a session whose tasks are taken.
    public static func isRunning(_ session: URLSession = .shared) -> Bool {
        Installer.isInstalled(in: session.configuration)
    }
}
