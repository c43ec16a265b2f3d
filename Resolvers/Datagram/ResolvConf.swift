public import HTTPDNSNames

/// The servers that a text in the syntax of `/etc/resolv.conf` names.
///
/// Only `nameserver` lines are read. Source: resolv.conf(5).
public struct ResolvConf: Sendable, Hashable {
    /// In the order of the text, port 53; the server on this machine when the text names none.
    public let servers: [Endpoint]
    /// The numbers, from 1, of `nameserver` lines without a usable address; they are skipped.
    public let skippedLines: [Int]

    public init(parsing text: String) {
        var servers: [Endpoint] = []
        var skipped: [Int] = []
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard fields.first == "nameserver" else { continue }
            // What follows the address is ignored, as the C library does.
            guard fields.count > 1, let address = try? IPAddress(String(fields[1])) else {
                skipped.append(index + 1)
                continue
            }
            let server = Endpoint(address: address, port: .dns)
            if !servers.contains(server) { servers.append(server) }
        }
        if servers.isEmpty, let local = IPAddress(octets: [127, 0, 0, 1]) {
            servers = [Endpoint(address: local, port: .dns)]
        }
        self.servers = servers
        skippedLines = skipped
    }
}
