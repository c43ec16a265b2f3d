public import HTTPDNSNames

/// Why a server or a certificate of the laboratory could not be made.
public enum LabError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operating system refused a socket, a pipe or a thread; `code` is its `errno`.
    case system(operation: String, code: Int32)
    /// Only loopback addresses are served, so that no test is ever seen by another machine.
    case notLoopback(IPAddress)
    /// OpenSSL refused; `reason` is the newest entry of its error queue.
    case openSSL(operation: String, reason: String)
    /// The moments are out of order, or outside the years 0 to 9999 that a certificate can state.
    case validity(notBefore: WallTime, notAfter: WallTime)
    /// A subject's common name has 1 to 64 octets. Source: RFC 5280 appendix A.1, ub-common-name.
    case commonName(String)
    /// This machine's OpenSSL was built without it, or refuses to serve it.
    case notServed(String)
    /// A program could not be started; `code` is its `errno`.
    case notStarted(program: String, code: Int32)
    /// A file or a directory could not be written; `code` is its `errno`.
    case notWritten(path: String, code: Int32)
    /// No scenario has such a name.
    case unknownScenario(String)
    /// No hijack has such a name.
    case unknownHijack(String)

    /// One sentence: what was asked, what refused it, and what to do where that is known.
    public var description: String {
        switch self {
        case .system(let operation, let code):
            "the system refused to \(operation) (errno \(code))"
        case .notLoopback(let address):
            "\(address) is not a loopback address; use 127.0.0.0/8 or ::1"
        case .openSSL(let operation, let reason):
            "OpenSSL refused to \(operation): \(reason.isEmpty ? "no reason given" : reason)"
        case .validity(let notBefore, let notAfter):
            "a certificate cannot be valid from \(notBefore.secondsSince1970) to "
                + "\(notAfter.secondsSince1970) seconds after 1970"
        case .commonName(let name):
            "the common name \"\(name)\" must have 1 to 64 octets"
        case .notServed(let what):
            "this OpenSSL cannot serve \(what)"
        case .notStarted(let program, let code):
            "cannot run \(program) (errno \(code)); is it installed, and on PATH?"
        case .notWritten(let path, let code):
            "cannot write \(path) (errno \(code))"
        case .unknownScenario(let name):
            "there is no scenario \"\(name)\"; \"httpdns lab list\" names them all"
        case .unknownHijack(let name):
            "there is no hijack \"\(name)\"; \"httpdns lab hijack list\" names them all"
        }
    }
}
