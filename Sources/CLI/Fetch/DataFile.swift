internal import CHTTPDNSSystem
internal import HTTPDNSClient
internal import HTTPDNSExchange

/// The file of `--data @FILE`: read as it is sent, and held to what it was when the command began.
struct DataFile: Sendable {
    let path: String
    let octets: Int64
    private let state: FileState

    /// Nil for a file that is small, or none to read twice: a pipe that this process was given.
    ///
    /// - Throws: ``CommandFault``: usage, with the system's reason.
    init?(_ path: String) throws(CommandFault) {
        guard path != "-" else { return nil }
        let descriptor = httpdns_file_open_whole(path)
        // Whoever reads it whole says what is wrong.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let state = FileState(descriptor), state.isRegular,
            state.octets > DataFile.smallOctets
        else { return nil }
        self.path = path
        self.state = state
        octets = state.octets
    }

    /// A body of its own for one request: of a source one exchange alone can have at a time.
    func body() -> RequestBody { .chunks(self, length: octets, canRepeat: true) }

    /// Because: what is smaller is read once, and goes out from memory with the head.
    private static let smallOctets: Int64 = 262_144
    fileprivate static let pieceOctets = 262_144
}

extension DataFile: AsyncSequence {
    /// Reads the file once; each pass opens it anew.
    final class AsyncIterator: AsyncIteratorProtocol {
        private let file: DataFile
        private var descriptor: Int32?
        private var place: Int64 = 0

        fileprivate init(_ file: DataFile) { self.file = file }

        deinit { if let descriptor { close(descriptor) } }

        /// The next piece; nil behind the last.
        ///
        /// - Throws: ``DataFileFault``.
        func next() throws -> [UInt8]? {
            guard place < file.octets else { return nil }
            let descriptor = try opened()
            let wanted = Int(Swift.min(Int64(DataFile.pieceOctets), file.octets - place))
            var (count, error) = (0, Int32(0))
            let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
                repeat {
                    count = pread(descriptor, buffer.baseAddress, wanted, off_t(place))
                } while count < 0 && httpdns_errno() == EINTR
                if count < 0 { error = httpdns_errno() }
                initialized = Swift.max(count, 0)
            }
            guard count >= 0 else { throw DataFileFault.unreadable(file.path, error) }
            place += Int64(count)
            // Before the last piece goes out: what is sent whole was one file.
            guard count > 0, place < file.octets || file.isUnchanged(descriptor) else {
                throw DataFileFault.changed(file.path)
            }
            return piece
        }

        private func opened() throws -> Int32 {
            if let descriptor { return descriptor }
            let opened = httpdns_file_open_whole(file.path)
            guard opened >= 0 else {
                throw opened == HTTPDNS_FILE_IS_SPECIAL
                    ? DataFileFault.changed(file.path)
                    : DataFileFault.unreadable(file.path, 0 &- opened)
            }
            descriptor = opened
            guard file.isUnchanged(opened) else { throw DataFileFault.changed(file.path) }
            return opened
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    private func isUnchanged(_ descriptor: Int32) -> Bool { FileState(descriptor) == state }
}

/// What tells one content of a file from another.
private struct FileState: Sendable, Hashable {
    let octets: Int64
    let isRegular: Bool
    private let device: UInt64
    private let node: UInt64
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil where the system does not say.
    init?(_ descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        octets = Int64(facts.st_size)
        // Source: inode(7): S_IFMT and S_IFREG, which Swift sees as signed.
        isRegular = facts.st_mode & 0o170000 == 0o100000
        device = UInt64(truncatingIfNeeded: facts.st_dev)
        node = UInt64(truncatingIfNeeded: facts.st_ino)
        #if canImport(Darwin)
            (seconds, nanoseconds) = (facts.st_mtimespec.tv_sec, facts.st_mtimespec.tv_nsec)
        #else
            (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
        #endif
    }
}

/// Why the file of a body could not be sent.
enum DataFileFault: Error, CustomStringConvertible {
    case changed(String)
    case unreadable(String, Int32)

    var description: String {
        switch self {
        case .changed(let path):
            "\(quoted(path)) changed since the command began to send it, so that what went out is "
                + "of no one file; send it again when nobody writes to it"
        case .unreadable(let path, let error): FileText.unreadable(path, error: error).message
        }
    }
}
