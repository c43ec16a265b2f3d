internal import CHTTPDNSSystem

/// A file of the system's configuration: read whole, and known again when it has changed.
package enum SmallFile {
    /// What tells one state of a file from another.
    package struct Stamp: Sendable, Hashable {
        let device: UInt64
        let node: UInt64
        let octets: Int64
        let changedSeconds: Int64
        let changedNanoseconds: Int64
    }

    /// Nil when there is no such file. A link is followed.
    package static func stamp(_ path: String) -> Stamp? {
        let file = httpdns_file_open_reading(path)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var facts = httpdns_file()
        guard httpdns_file_facts(nil, file, &facts) == 0 else { return nil }
        return Stamp(
            device: facts.device, node: facts.node, octets: facts.octets,
            changedSeconds: facts.changed_seconds, changedNanoseconds: facts.changed_nanoseconds)
    }

    /// The file's octets, at most `limit`; nil when it cannot be read.
    package static func read(_ path: String, atMost limit: Int) -> [UInt8]? {
        let file = httpdns_file_open_reading(path)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var octets = [UInt8](repeating: 0, count: max(limit, 0))
        var filled = 0
        while filled < octets.count {
            let count = octets.withUnsafeMutableBytes { bytes -> Int in
                guard let start = bytes.baseAddress else { return 0 }
                return CHTTPDNSSystem.read(file, start + filled, bytes.count - filled)
            }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            filled += count
        }
        return Array(octets.prefix(filled))
    }
}
