internal import Glibc
internal import HTTPDNSPlatform

/// A new directory under TMPDIR; removed with all that is in it when the last reference goes, and once
/// more at the end of the process: a thread that writes what was waiting makes it again.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/httpdns-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError(description: "no directory under \(parent) (errno \(errno))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        MadeDirectories.add(path)
    }

    deinit { removeTree(path) }

    /// Makes a directory of this name inside.
    package func makeDirectory(_ name: String) throws {
        guard mkdir("\(path)/\(name)", 0o700) == 0 else {
            throw CommandError(description: "cannot make \(path)/\(name) (errno \(errno))")
        }
    }

    /// Writes a file of this name; gives its path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String {
        let file = "\(path)/\(name)"
        guard let stream = fopen(file, "we") else {
            throw CommandError(description: "cannot write \(file) (errno \(errno))")
        }
        defer { fclose(stream) }
        fputs(text, stream)
        return file
    }
}

/// Every directory that this process has made.
private enum MadeDirectories {
    private static let paths = Locked<[String]>([])
    private static let isRegistered = atexit { MadeDirectories.removeAll() } == 0

    static func add(_ path: String) {
        precondition(isRegistered, "there is always room for 32 handlers")
        paths.withLock { $0.append(path) }
    }

    private static func removeAll() { for path in paths.withLock({ $0 }) { removeTree(path) } }
}

/// Removes a file, or a directory with all below it; never follows a link.
private func removeTree(_ path: String) {
    if unlink(path) == 0 { return }
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { removeTree("\(path)/\(name)") }
    }
    closedir(directory)
    rmdir(path)
}

/// How many descriptors this process has open. Only meaningful in a process that runs one test, an
/// exit test for example.
package func openDescriptors() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // ".", ".." and the directory itself.
    return count - 3
}

/// The content of a file.
package func contents(of path: String) throws -> String {
    guard let stream = fopen(path, "re") else {
        throw CommandError(description: "cannot read \(path) (errno \(errno))")
    }
    defer { fclose(stream) }
    var octets: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&piece, 1, piece.count, stream), count > 0 {
        octets += piece.prefix(count)
    }
    return String(decoding: octets, as: UTF8.self)
}
