internal import CHTTPDNSSystem

/// A file that only its owner may read: how it is made, known again, and moved out of the way.
package enum PrivateFile {
    /// Which file a path leads to: it stays the same when the file is renamed.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let node: UInt64
    }

    /// Why a file cannot be used.
    package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Makes the file, empty, and its directory when they are missing; takes the rights of others
    /// away from a file that is there.
    ///
    /// A link, a file that is not a plain one, and a file of another user are refused: whoever can
    /// write it could put answers of their own there.
    package static func prepare(_ path: String) throws(Refusal) -> Identity {
        try makeDirectory(of: path)
        if let identity = prepared(path) { return identity }
        let file = httpdns_file_open_private(path)
        guard file >= 0 else { throw Refusal(description: "\(path): \(systemWord())") }
        defer { close(file) }
        var facts = httpdns_file()
        guard httpdns_file_facts(nil, file, &facts) == 0 else {
            throw Refusal(description: "\(path): \(systemWord())")
        }
        guard facts.is_plain == 1 else {
            throw Refusal(description: "\(path) is not a plain file")
        }
        guard facts.is_own == 1 else {
            throw Refusal(description: "\(path) belongs to another user")
        }
        // For a umask that takes away too much, and for a file that was made by other means.
        if facts.rights != 0o600, fchmod(file, 0o600) != 0 {
            throw Refusal(description: "\(path): \(systemWord())")
        }
        return Identity(device: facts.device, node: facts.node)
    }

    /// The file, where it is as it has to be. It is not opened: whoever closes a file gives back every
    /// lock that this process has on it, those of another connection of SQLite's among them.
    /// Source: sqlite.org/howtocorrupt.html §2.2.
    private static func prepared(_ path: String) -> Identity? {
        var facts = httpdns_file()
        guard httpdns_file_facts(path, -1, &facts) == 0, facts.is_plain == 1, facts.is_own == 1,
            facts.rights == 0o600, access(path, R_OK | W_OK) == 0
        else { return nil }
        return Identity(device: facts.device, node: facts.node)
    }

    /// The file that the path leads to now; nil when there is none.
    package static func identity(_ path: String) -> Identity? {
        var facts = httpdns_file()
        guard httpdns_file_facts(path, -1, &facts) == 0 else { return nil }
        return Identity(device: facts.device, node: facts.node)
    }

    /// Renames the file with what belongs to it (`suffixes`), when it is still the one meant.
    ///
    /// A lock on the directory keeps two processes from moving each other's new file away.
    /// - Returns: false when the path leads to another file by now, or the system refuses.
    package static func setAside(
        _ path: String, _ expected: Identity, as other: String, suffixes: [String]
    ) -> Bool {
        let directory = httpdns_directory_open(parent(of: path))
        guard directory >= 0 else { return false }
        defer { close(directory) }
        guard httpdns_lock_descriptor(directory) == 0, identity(path) == expected else {
            return false
        }
        for suffix in suffixes { rename(path + suffix, other + suffix) }
        return rename(path, other) == 0
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes what is missing of the path to the file, for the owner alone.
    private static func makeDirectory(of path: String) throws(Refusal) {
        let directory = parent(of: path)
        if access(directory, F_OK) == 0 { return }
        if directory != ".", directory != "/" { try makeDirectory(of: directory) }
        if mkdir(directory, 0o700) == 0 {
            chmod(directory, 0o700)
        } else if httpdns_errno() != EEXIST {
            throw Refusal(description: "\(directory): \(systemWord())")
        }
    }
}

/// What the system says about its last error on this thread.
package func systemWord() -> String { systemWord(httpdns_errno()) }

/// What the system says about an error's number.
package func systemWord(_ error: Int32) -> String {
    // strerror's longest text in the C locale is well below 128 octets. Source: glibc errlist.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        guard let base = buffer.baseAddress else { return "error \(error)" }
        httpdns_error_text(error, base, buffer.count)
        return String(cString: base)
    }
}
