internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

/// Where the laboratory's files are put: a directory that was named, or one of its own that goes with
/// it.
final class LabFiles: Sendable {
    /// The directory.
    let path: String
    /// The root that is to be trusted.
    var authority: String { path + "/ca.pem" }
    private let isOwn: Bool
    /// Kept for the signal handler, which removes them.
    private let kept: [UInt]

    /// - Throws: ``CommandFault``: it cannot be written.
    init(_ directory: String?, authorityPEM: String, console: Console) throws(CommandFault) {
        isOwn = directory == nil
        if let directory {
            guard !directory.isEmpty else { throw .usage("--dir needs the name of a directory") }
            path = try LabFiles.absolute(directory)
            kept = []
        } else {
            path = try LabFiles.made(console.variable("TMPDIR"))
            let file = strdup(path + "/ca.pem")
            let folder = strdup(path)
            httpdns_interrupt_removes(file, folder)
            kept = [file, folder].map { UInt(bitPattern: $0) }
        }
        try write("ca.pem", authorityPEM)
    }

    deinit {
        guard isOwn else { return }
        httpdns_interrupt_removes(nil, nil)
        unlink(authority)
        rmdir(path)
        for address in kept { free(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    /// Writes a file into the directory.
    ///
    /// - Throws: ``CommandFault``.
    func write(_ name: String, _ text: String) throws(CommandFault) {
        try LabFiles.write(path + "/" + name, text)
    }

    /// Writes a file.
    ///
    /// - Throws: ``CommandFault``.
    static func write(_ path: String, _ text: String) throws(CommandFault) {
        do throws(FileFault) { try ReplacedFile.replace(path, with: Array(text.utf8)) } catch {
            throw .usage("\(error)")
        }
    }

    /// As another program finds it, wherever that one is started.
    private static func absolute(_ directory: String) throws(CommandFault) -> String {
        guard let found = realpath(directory, nil) else {
            throw .usage("--dir \(quoted(directory)): there is no such directory")
        }
        defer { free(found) }
        let path = String(cString: found)
        guard access(path + "/.", F_OK) == 0 else {
            throw .usage("--dir \(quoted(directory)) is no directory")
        }
        return path == "/" ? "" : path
    }

    private static func made(_ parent: String?) throws(CommandFault) -> String {
        let parent = parent.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array((parent + "/httpdns-lab-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .usage("cannot make a directory in \(quoted(parent)); set TMPDIR or give --dir")
        }
        return String(
            decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
