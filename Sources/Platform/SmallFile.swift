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

    /// Nil when there is no such file that may be read. A link is followed; nothing is opened.
    package static func stamp(_ path: String) -> Stamp? {
        var facts = httpdns_file()
        guard httpdns_file_facts_unopened(path, &facts) == 0 else { return nil }
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

    /// Why a file cannot be read whole.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The system's reason.
        case unreadable(String)
        /// A named pipe or a device, which may have no end.
        case special
        case tooLarge(most: Int)

        package var description: String {
            switch self {
            case .unreadable(let reason): reason
            case .special: "it is no regular file"
            case .tooLarge(let most): "it is larger than \(most) octets"
            }
        }
    }

    /// A file that a person named: whole, of `most` octets at most. Never waits for one who writes to a
    /// named pipe, and never reads a device; a pipe that this process was given is read to its end.
    ///
    /// - Throws: ``Fault``.
    package static func whole(_ path: String, most: Int) throws(Fault) -> [UInt8] {
        let file = httpdns_file_open_whole(path)
        guard file != HTTPDNS_FILE_IS_SPECIAL else { throw .special }
        guard file >= 0 else { throw .unreadable(words(-file)) }
        defer { close(file) }
        var facts = httpdns_file()
        let isSized = httpdns_file_facts(nil, file, &facts) == 0 && facts.is_plain == 1
        guard !isSized || facts.octets <= Int64(most) else { throw .tooLarge(most: most) }
        var octets: [UInt8] = []
        // A file of the system's may say that it is empty, and is not.
        if isSized { octets.reserveCapacity(Int(clamping: facts.octets)) }
        var piece = [UInt8](repeating: 0, count: pieceOctets)
        while true {
            let count = httpdns_file_read(file, &piece, piece.count)
            guard count >= 0 else { throw .unreadable(words(Int32(clamping: -count))) }
            guard count > 0 else { return octets }
            octets += piece.prefix(count)
            guard octets.count <= most else { throw .tooLarge(most: most) }
        }
    }

    private static func words(_ error: Int32) -> String {
        var word = [CChar](repeating: 0, count: 128)
        httpdns_error_text(error, &word, word.count)
        return String(
            decoding: word.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Because: nearly every such file fits, and a large one costs few calls.
    private static let pieceOctets = 65_536
}
