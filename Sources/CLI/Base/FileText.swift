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
        return String(decoding: try octets(of: file, path), as: UTF8.self)
    }

    /// Because: a configuration is written by hand; what is larger is another file.
    static let maximumConfigurationOctets = 16_777_216

    /// The text of a file, and whether others than its owner may read or change it. Only a regular
    /// file is read: a pipe may be silent and a device endless.
    ///
    /// Both are told of the one file that was opened: between two looks at a path another file could
    /// take its place.
    ///
    /// - Returns: nil when there is no such file.
    /// - Throws: ``CommandFault``: usage, with the system's reason.
    package static func readGuarded(
        _ path: String
    ) throws(CommandFault) -> (text: String, isOpenToOthers: Bool)? {
        guard let (octets, isOpenToOthers) = try readGuardedOctets(path) else { return nil }
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw .usage("cannot read \(quoted(path)): it is not UTF-8")
        }
        return (text, isOpenToOthers)
    }

    /// The same for a file that need not be UTF-8.
    ///
    /// - Returns: nil when there is no such file.
    /// - Throws: ``CommandFault``: usage, with the system's reason.
    package static func readGuardedOctets(
        _ path: String
    ) throws(CommandFault) -> (octets: [UInt8], isOpenToOthers: Bool)? {
        // Never waits: for a pipe's writer, for one.
        let descriptor = httpdns_file_open(path)
        guard descriptor >= 0 else {
            guard descriptor == -ENOENT || descriptor == -ENOTDIR else {
                throw unreadable(path, error: -descriptor)
            }
            return nil
        }
        guard let file = fdopen(descriptor, "r") else {
            close(descriptor)
            throw unreadable(path)
        }
        defer { fclose(file) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw unreadable(path) }
        // Source: inode(7): S_IFMT and S_IFREG, which Swift sees as signed.
        guard facts.st_mode & 0o170000 == 0o100000 else {
            // Source: inode(7), S_IFDIR.
            let what = facts.st_mode & 0o170000 == 0o040000 ? "a directory" : "no regular file"
            throw .usage("cannot read \(quoted(path)): it is \(what)")
        }
        let octets = try octets(of: file, path, limit: maximumConfigurationOctets)
        return (octets, facts.st_mode & 0o066 != 0)
    }

    /// The text of a profile.
    ///
    /// - Throws: ``CommandFault``: usage.
    package static func profile(_ path: String) throws(CommandFault) -> String {
        guard let file = try readGuarded(path) else { throw unreadable(path, error: ENOENT) }
        return file.text
    }

    private static func octets(
        of file: UnsafeMutablePointer<FILE>, _ path: String, limit: Int = maximumOctets
    ) throws(CommandFault) -> [UInt8] {
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            // One more than is allowed tells that there is more.
            let wanted = min(piece.count, limit + 1 - octets.count)
            let count = fread(&piece, 1, wanted, file)
            octets += piece.prefix(count)
            guard octets.count <= limit else {
                throw .usage("\(quoted(path)) is larger than \(limit) octets")
            }
            guard count < wanted else { continue }
            guard ferror(file) == 0 else { throw unreadable(path) }
            return octets
        }
    }

    /// The fault of a file that cannot be read, with the system's reason.
    static func unreadable(_ path: String, error: Int32? = nil) -> CommandFault {
        let error = error ?? httpdns_errno()
        var word = [CChar](repeating: 0, count: 128)
        httpdns_error_text(error, &word, word.count)
        let reason = String(decoding: word.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        return .usage("cannot read \(quoted(path)): \(reason)")
    }
}
