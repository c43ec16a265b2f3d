internal import CHTTPDNSSystem

/// Why the system makes no connection, as far as a program can do something with it.
package enum ConnectRefusal: Sendable, Hashable, CaseIterable {
    /// A reset came back: nobody listens there, or somebody in between says so.
    case refused
    /// A router, or the last link, says that there is no such host.
    case hostUnreachable
    /// This machine, or a router, knows no way there.
    case networkUnreachable
    /// A rule of this machine, or a router's word that it is not allowed.
    case forbidden

    /// By the system's own word for it; nil for any other.
    package init?(word: String) {
        guard let found = ConnectRefusal.allCases.first(where: { $0.words.contains(word) }) else {
            return nil
        }
        self = found
    }

    private var words: [String] {
        let numbers: [Int32] =
            switch self {
            case .refused: [ECONNREFUSED]
            case .hostUnreachable: [EHOSTUNREACH, EHOSTDOWN]
            case .networkUnreachable: [ENETUNREACH, ENETDOWN, EADDRNOTAVAIL]
            case .forbidden: [EACCES, EPERM]
            }
        return numbers.map { systemWord($0) }
    }
}
