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
        switch try OutputPlace(path) {
        case .through:
            guard access(path, W_OK) == 0 else {
                throw FileFault("cannot be written", path, 0 - httpdns_errno())
            }
        case .replaced(let place): _ = try NewFile(replacing: place, calledSo: path)
        }
    }

    /// Writes a new file with mode 0600 beside the old one, then puts it in its place; where a link
    /// leads, and through a pipe or a device.
    ///
    /// - Throws: ``FileFault``; the old file is then as it was.
    package static func replace(_ path: String, with octets: [UInt8]) throws(FileFault) {
        let file = try NewFile(path)
        try file.write(octets)
        try file.finish()
    }
}

extension ReplacedFile {
    /// How long another writer of the same file is waited for.
    ///
    /// Because: each has it for some milliseconds; who has it for longer is stopped or means no good.
    package static let lockMilliseconds: Int64 = 10_000

    /// Replaces a file by what `change` makes of it, while nobody else who changes it so may. Into a
    /// pipe or a device goes what `change` makes of nothing.
    ///
    /// A file that is missing is made. One who is killed meanwhile leaves the old content and no lock.
    ///
    /// - Throws: ``FileFault``; the content is then as it was.
    package static func update(
        _ path: String, maximumOctets: Int, waitingMilliseconds: Int64 = lockMilliseconds,
        _ change: ([UInt8]) -> [UInt8]
    ) throws(FileFault) {
        guard case .replaced(let place) = try OutputPlace(path) else {
            return try replace(path, with: change([]))
        }
        let lock = httpdns_file_lock(place, waitingMilliseconds)
        guard lock >= 0 else {
            guard lock == -EWOULDBLOCK else { throw FileFault("cannot be locked", path, lock) }
            throw FileFault(
                path: path,
                what: "is locked by another program, for \(waitingMilliseconds / 1_000) s already")
        }
        defer { close(lock) }
        try replace(path, with: change(try read(path, maximumOctets: maximumOctets) ?? []))
    }
}

/// What becomes of an output.
enum OutputPlace {
    /// A new file takes the place of that one, to which the name given may be a link.
    case replaced(String)
    /// A pipe or a device, which stays what it is.
    case through

    init(_ path: String) throws(FileFault) {
        var target: UnsafeMutablePointer<CChar>?
        let kind = httpdns_file_place(path, &target)
        defer { free(target) }
        guard kind >= 0 else { throw FileFault("cannot be written", path, kind) }
        if kind == HTTPDNS_FILE_IS_WRITTEN_THROUGH {
            self = .through
        } else {
            self = .replaced(target.map { String(cString: $0) } ?? path)
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
    init(_ what: String, _ path: String, _ code: Int32) {
        let word = strerror(0 &- code).map { String(cString: $0) } ?? "error \(code)"
        self.init(path: path, what: "\(what): \(word)")
    }

    package var description: String { "\(path) \(what)" }
}
