internal import CHTTPDNSSystem

/// A file that is read from its beginning to its end, piece by piece.
package final class OpenedFile: @unchecked Sendable {
    // Safety: the descriptor never changes, and one thread reads.
    private let descriptor: Int32
    /// Octets when it was opened.
    package let octets: Int64

    /// Opens a plain file; never waits for one who writes to a named pipe, and never reads a
    /// device.
    ///
    /// - Throws: ``SmallFile/Fault``.
    package init(_ path: String) throws(SmallFile.Fault) {
        let file = httpdns_file_open_whole(path)
        guard file != HTTPDNS_FILE_IS_SPECIAL else { throw .special }
        guard file >= 0 else { throw .unreadable(systemWord(-file)) }
        var facts = httpdns_file()
        guard httpdns_file_facts(nil, file, &facts) == 0, facts.is_plain == 1 else {
            close(file)
            throw .special
        }
        descriptor = file
        octets = facts.octets
    }

    deinit { close(descriptor) }

    /// The next octets; none at the end.
    ///
    /// - Throws: ``SmallFile/Fault``.
    package func read(atMost limit: Int) throws(SmallFile.Fault) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: max(limit, 1))
        let count = httpdns_file_read(descriptor, &piece, piece.count)
        guard count >= 0 else { throw .unreadable(systemWord(Int32(clamping: -count))) }
        piece.removeLast(piece.count - count)
        return piece
    }
}
