internal import CHTTPDNSSystem

/// Reads whole text files, for commands.
package enum FileText {
    /// Because: a list of ten million names; more is a mistake, such as a device without an end.
    static let maximumOctets = 268_435_456

    /// The text of a file; `-` is standard input.
    ///
    /// - Throws: ``CommandFault``: usage, with the system's reason.
    package static func read(_ path: String) throws(CommandFault) -> String {
        let opened = path == "-" ? fdopen(0, "r") : fopen(path, "re")
        guard let file = opened else { throw unreadable(path) }
        defer { fclose(file) }
        return try text(of: file, path)
    }

    /// The text of a file, and whether others than its owner may read or change it.
    ///
    /// Both are told of the one file that was opened: between two looks at a path another file could
    /// take its place.
    ///
    /// - Returns: nil when there is no such file.
    /// - Throws: ``CommandFault``: usage, with the system's reason.
    package static func readGuarded(
        _ path: String
    ) throws(CommandFault) -> (text: String, isOpenToOthers: Bool)? {
        guard let file = fopen(path, "re") else {
            guard httpdns_errno() == ENOENT || httpdns_errno() == ENOTDIR else {
                throw unreadable(path)
            }
            return nil
        }
        defer { fclose(file) }
        var facts = stat()
        guard fstat(fileno(file), &facts) == 0 else { throw unreadable(path) }
        return (try text(of: file, path), facts.st_mode & 0o066 != 0)
    }

    private static func text(
        of file: UnsafeMutablePointer<FILE>, _ path: String
    ) throws(CommandFault) -> String {
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            octets += piece.prefix(count)
            guard octets.count <= maximumOctets else {
                throw .usage("\(quoted(path)) is larger than \(maximumOctets) octets")
            }
            guard count < piece.count else { continue }
            guard ferror(file) == 0 else { throw unreadable(path) }
            return String(decoding: octets, as: UTF8.self)
        }
    }

    /// The fault of a file that cannot be read, with the system's reason.
    static func unreadable(_ path: String) -> CommandFault {
        var word = [CChar](repeating: 0, count: 128)
        httpdns_error_text(httpdns_errno(), &word, word.count)
        let reason = String(decoding: word.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        return .usage("cannot read \(quoted(path)): \(reason)")
    }
}
