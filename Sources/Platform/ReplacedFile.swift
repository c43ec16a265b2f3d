internal import CHTTPDNSSystem

/// A small file that only its owner may read, replaced as a whole or not at all.
package enum ReplacedFile {
    /// The content; nil when there is no such file.
    ///
    /// - Throws: ``FileFault``, also for a file longer than that.
    package static func read(
        _ path: String, maximumOctets: Int
    ) throws(FileFault) -> [UInt8]? {
        let descriptor = httpdns_file_open(path)
        guard descriptor >= 0 else {
            if descriptor == -ENOENT { return nil }
            throw FileFault("cannot be opened", path, descriptor)
        }
        defer { close(descriptor) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = httpdns_file_read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                throw FileFault("cannot be read", path, Int32(clamping: count))
            }
            if count == 0 { return octets }
            guard octets.count + count <= maximumOctets else {
                throw FileFault(path: path, what: "is longer than \(maximumOctets) octets")
            }
            octets += buffer.prefix(count)
        }
    }

    /// Whether the file could be replaced now; leaves nothing behind.
    ///
    /// - Throws: ``FileFault``.
    package static func checkReplaceable(_ path: String) throws(FileFault) {
        let draft = draft(of: path)
        let descriptor = httpdns_file_create_private(draft)
        guard descriptor >= 0 else {
            throw FileFault("cannot be written", path, descriptor)
        }
        close(descriptor)
        unlink(draft)
    }

    /// Each writer has a name of its own, so that two cannot write into one file.
    private static func draft(of path: String) -> String {
        "\(path).\(UInt64.random(in: .min ... .max)).new"
    }

    /// Writes a new file with mode 0600 beside the old one, then puts it in its place.
    ///
    /// - Throws: ``FileFault``; the old file is then as it was.
    package static func replace(_ path: String, with octets: [UInt8]) throws(FileFault) {
        let draft = draft(of: path)
        let descriptor = httpdns_file_create_private(draft)
        guard descriptor >= 0 else {
            throw FileFault("cannot be written", path, descriptor)
        }
        let written = httpdns_file_write_all(descriptor, octets, octets.count)
        close(descriptor)
        let renamed = written == 0 ? httpdns_file_rename(draft, path) : written
        guard renamed == 0 else {
            unlink(draft)
            throw FileFault("cannot be replaced", path, renamed)
        }
    }
}

/// Why a file could not be used.
package struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    package let path: String
    package let what: String

    package init(path: String, what: String) {
        self.path = path
        self.what = what
    }

    /// With the system's word for the negative of an error number.
    fileprivate init(_ what: String, _ path: String, _ code: Int32) {
        let word = strerror(0 &- code).map { String(cString: $0) } ?? "error \(code)"
        self.init(path: path, what: "\(what): \(word)")
    }

    package var description: String { "\(path) \(what)" }
}
