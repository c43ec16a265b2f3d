internal import HTTPDNSLookup
package import HTTPDNSNames
package import HTTPDNSPlatform
internal import HTTPDNSStatic

/// The system's hosts file, read again when it has changed; lines that cannot be read are skipped, as
/// the system does.
package final class SystemHostTable: HostTable {
    package static let shared = SystemHostTable(path: "/etc/hosts")

    package let label: String
    private let file: WatchedFile<[HostName: [IPAddress]]>

    package init(path: String, clock: any MonotonicSource = SystemMonotonicClock()) {
        label = path
        file = WatchedFile(path: path, clock: clock) {
            HostsFile.parseTolerantly($0).file.table
        }
    }

    package func addresses(of name: HostName) -> [IPAddress]? { file.value[name] }
}
