internal import CHTTPDNSSystem

extension SmallFile {
    /// How long a regular file is that may be read; it is not opened.
    ///
    /// - Throws: ``SmallFile/Fault``.
    package static func size(_ path: String) throws(Fault) -> Int64 {
        var facts = httpdns_file()
        guard httpdns_file_facts_unopened(path, &facts) == 0 else {
            throw .unreadable(systemWord())
        }
        guard facts.is_plain == 1 else { throw .special }
        return facts.octets
    }

    /// The same; 0 where there is none.
    package static func octets(of path: String) -> Int64 { (try? size(path)) ?? 0 }

    /// Whether it is there and may be written; it is not opened.
    package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// Whether it is a pipe that this process was given, which can be read once only.
    package static func isStream(_ path: String) -> Bool {
        let file = httpdns_file_open_whole(path)
        guard file >= 0 else { return false }
        defer { close(file) }
        var facts = httpdns_file()
        return httpdns_file_facts(nil, file, &facts) == 0 && facts.is_plain != 1
    }

    /// The first octets of a regular file; fewer where it is shorter. Never waits for one who
    /// writes to a named pipe, and never reads a device.
    ///
    /// - Throws: ``SmallFile/Fault``.
    package static func beginning(_ path: String, octets: Int) throws(Fault) -> [UInt8] {
        let file = httpdns_file_open_whole(path)
        guard file != HTTPDNS_FILE_IS_SPECIAL else { throw .special }
        guard file >= 0 else { throw .unreadable(systemWord(-file)) }
        defer { close(file) }
        var beginning = [UInt8](repeating: 0, count: octets)
        let count = httpdns_file_read(file, &beginning, octets)
        guard count >= 0 else { throw .unreadable(systemWord(Int32(clamping: -count))) }
        return Array(beginning.prefix(count))
    }
}
