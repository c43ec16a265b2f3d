internal import CHTTPDNSSystem

/// The variables that this process was started with.
package enum ProcessEnvironment {
    /// Nil where there is none of that name.
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
