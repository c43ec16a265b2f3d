public import HTTPDNSNames

/// Names whose addresses are known without asking: a hosts file, addresses given by the application.
public protocol HostTable: Sendable {
    /// How the table is shown to people: `/etc/hosts`.
    var label: String { get }

    /// The addresses of a name, in order; nil when the table does not name it. Empty: it has none, and
    /// nobody else is to be asked. Must return at once.
    func addresses(of name: HostName) -> [IPAddress]?
}

/// A table in memory.
public struct FixedHostTable: HostTable {
    public let label: String
    private let table: [HostName: [IPAddress]]

    public init(_ table: [HostName: [IPAddress]], label: String) {
        self.table = table
        self.label = label
    }

    public func addresses(of name: HostName) -> [IPAddress]? { table[name] }
}
