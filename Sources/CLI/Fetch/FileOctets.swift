internal import CHTTPDNSSystem

/// Whole files as octets, and files that a body is written to.
enum FileOctets {
    /// Because: what is read so is held in memory; a body from standard input is, to be sent again after
    /// a redirect.
    static let maximumOctets = 1_073_741_824

    /// The content of a file; `-` is standard input. A named pipe may be silent for ever, and a device
    /// endless: neither is opened.
    ///
    /// - Throws: ``CommandFault``: usage, with the system's reason.
    static func read(
        _ path: String, atMost limit: Int = maximumOctets
    ) throws(CommandFault) -> [UInt8] {
        guard path != "-" else { return try octets(of: 0, "standard input", limit) }
        let descriptor = httpdns_file_open_whole(path)
        guard descriptor >= 0 else {
            guard descriptor != HTTPDNS_FILE_IS_SPECIAL else {
                throw .usage("cannot read \(quoted(path)): it is no regular file")
            }
            throw FileText.unreadable(path, error: 0 &- descriptor)
        }
        defer { close(descriptor) }
        return try octets(of: descriptor, path, limit)
    }

    private static func octets(
        of descriptor: Int32, _ path: String, _ limit: Int
    ) throws(CommandFault) -> [UInt8] {
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = CHTTPDNSSystem.read(descriptor, &piece, piece.count)
            if count < 0, httpdns_errno() == EINTR { continue }
            guard count >= 0 else { throw fault("cannot read", path) }
            guard count > 0 else { return octets }
            octets += piece.prefix(count)
            guard octets.count <= limit else {
                throw .usage("\(quoted(path)) is larger than \(limit) octets")
            }
        }
    }

    static func fault(_ what: String, _ path: String) -> CommandFault {
        var word = [CChar](repeating: 0, count: 128)
        httpdns_error_text(httpdns_errno(), &word, word.count)
        let reason = String(
            decoding: word.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return .usage("\(what) \(quoted(path)): \(reason)")
    }
}

/// A file that is being written; closed with its last owner.
final class WrittenFile: @unchecked Sendable {
    // Safety: the stream is only asked for its descriptor, and closed once, by the last owner.
    private let stream: UnsafeMutablePointer<FILE>
    let path: String

    /// Makes the file, or empties it.
    ///
    /// - Throws: ``CommandFault``.
    init(_ path: String) throws(CommandFault) {
        guard let stream = fopen(path, "we") else { throw FileOctets.fault("cannot write", path) }
        self.path = path
        self.stream = stream
    }

    deinit { fclose(stream) }

    /// Whether it could be made, before anything is done for its sake; a file that is there stays as
    /// it is.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - option: who asks for it.
    /// - Throws: ``CommandFault``.
    static func check(_ path: String, of option: OptionRule = .output) throws(CommandFault) {
        // The second for a file that may be written and not read.
        if let there = fopen(path, "r+e")
            ?? (httpdns_errno() == EACCES ? fopen(path, "ae") : nil)
        {
            fclose(there)
            return
        }
        guard httpdns_errno() == ENOENT, let made = fopen(path, "we") else {
            let fault = FileOctets.fault("--\(option.name): cannot write", path)
            guard let slash = path.lastIndex(of: "/"), access(String(path[...slash]), F_OK) != 0
            else { throw fault }
            throw .usage(
                "\(fault.message); make the directory \(quoted(String(path[..<slash]))) first")
        }
        fclose(made)
        remove(path)
    }

    /// - Throws: ``CommandFault``: a full disk, for one.
    func write(_ octets: [UInt8]) throws(CommandFault) {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                CHTTPDNSSystem.write(fileno(stream), $0.baseAddress, $0.count)
            }
            if count < 0, httpdns_errno() == EINTR { continue }
            guard count > 0 else { throw FileOctets.fault("cannot write", path) }
            rest = rest.dropFirst(count)
        }
    }
}
