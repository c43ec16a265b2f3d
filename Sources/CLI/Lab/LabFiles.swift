internal import CHTTPDNSSystem
internal import HTTPDNSPinLab
internal import HTTPDNSPlatform

/// Where the laboratory's files are put: a directory that was named, or one of its own that goes with
/// it.
final class LabFiles: Sendable {
    /// The directory.
    let path: String
    /// The root that is to be trusted.
    var authority: String { path + "/ca.pem" }
    /// The logs of Certificate Transparency that are known.
    var logs: String { path + "/ct-logs.txt" }
    private let isOwn: Bool
    /// What the signal handler removes; freed when it no longer may.
    private let removed: RemovedFiles?

    /// - Throws: ``CommandFault``: it cannot be written.
    convenience init(
        _ directory: String?, _ bench: LabBench, console: Console
    ) throws(CommandFault) {
        try self.init(directory, authorityPEM: bench.authorityPEM, console: console)
        try write("ct-logs.txt", bench.logList)
    }

    /// - Throws: ``CommandFault``: it cannot be written.
    init(
        _ directory: String?, authorityPEM: String, console: Console
    ) throws(CommandFault) {
        isOwn = directory == nil
        if let directory {
            guard !directory.isEmpty else { throw .usage("--dir needs the name of a directory") }
            path = try LabFiles.absolute(directory)
            removed = nil
        } else {
            path = try LabFiles.made(console.variable("TMPDIR"))
            removed = RemovedFiles(LabFiles.names.map { [path] in path + "/" + $0 }, in: path)
        }
        try write("ca.pem", authorityPEM)
    }

    /// How a client is told whom to ask in a hijack; its owner alone may read it.
    ///
    /// - Throws: ``CommandFault``.
    func write(configuration stage: HijackStage) throws(CommandFault) -> String {
        let name = HijackCommand.configurationFile(of: stage.scenario)
        try write(name, stage.target.configuration(authorityFile: authority))
        return path + "/" + name
    }

    /// All that may be in the directory.
    private static let names =
        ["ca.pem", "ct-logs.txt"]
        + LabScenario.all.filter { $0.needs.contains(.revocationLists) }
        .map(LabCommand.revocationListFile)
        + HijackScenario.all.map(HijackCommand.configurationFile)

    /// The lists of a scenario, written for those who serve it; nil where there are none.
    ///
    /// - Throws: ``CommandFault``.
    func lists(of stage: LabStage) throws(CommandFault) -> String? {
        guard let text = stage.target.revocationLists else { return nil }
        let name = LabCommand.revocationListFile(of: stage.scenario)
        try write(name, text)
        return path + "/" + name
    }

    deinit {
        guard isOwn else { return }
        for name in LabFiles.names { unlink(path + "/" + name) }
        rmdir(path)
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

/// Files in a directory of their own that a signal which ends the process removes first.
private final class RemovedFiles: @unchecked Sendable {
    // Safety: not changed after `init`; the signal handler only reads it, and no longer after `deinit`.
    private let paths: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int
    private let directory: UnsafeMutablePointer<CChar>?

    init(_ files: [String], in directory: String) {
        count = files.count
        paths = .allocate(capacity: count + 1)
        for (index, file) in files.enumerated() {
            (paths + index).initialize(to: strdup(file).map { UnsafePointer($0) })
        }
        (paths + count).initialize(to: nil)
        self.directory = strdup(directory)
        httpdns_interrupt_removes(paths, self.directory)
    }

    deinit {
        httpdns_interrupt_removes(nil, nil)
        for index in 0..<count { free(UnsafeMutablePointer(mutating: paths[index])) }
        free(directory)
        paths.deallocate()
    }
}
