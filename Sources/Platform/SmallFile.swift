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
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: pieceOctets)
        while octets.count < limit {
            let count = CHTTPDNSSystem.read(file, &piece, min(piece.count, limit - octets.count))
            guard count >= 0 else { return nil }
            if count == 0 { break }
            octets += piece.prefix(count)
        }
        return octets
    }

    /// Because: nearly every such file fits, and a large one costs few calls.
    private static let pieceOctets = 65_536
}
