internal import CHTTPDNSSystem

/// A directory of files that only their owner may read, each with a name of random letters.
package struct PrivateDirectory: Sendable {
    package let path: String

    /// Makes it where it is missing, for the owner alone.
    ///
    /// - Throws: ``PrivateFile/Refusal``: it cannot be made, is no directory, or another user's.
    package init(_ path: String) throws(PrivateFile.Refusal) {
        self.path = path
        if mkdir(path, 0o700) != 0, httpdns_errno() != EEXIST {
            throw PrivateFile.Refusal(description: "\(path): \(systemWord())")
        }
        var facts = httpdns_file()
        let opened = httpdns_directory_open(path)
        guard opened >= 0 else {
            throw PrivateFile.Refusal(description: "\(path): \(systemWord())")
        }
        defer { close(opened) }
        // The link itself is looked at: it must not lead elsewhere.
        var link = httpdns_file()
        guard httpdns_file_facts(nil, opened, &facts) == 0,
            httpdns_file_facts(path, -1, &link) == 0, link.node == facts.node,
            link.device == facts.device
        else { throw PrivateFile.Refusal(description: "\(path) is a link") }
        guard facts.is_own == 1 else {
            throw PrivateFile.Refusal(description: "\(path) belongs to another user")
        }
        if facts.rights != 0o700, fchmod(opened, 0o700) != 0 {
            throw PrivateFile.Refusal(description: "\(path): \(systemWord())")
        }
    }

    func path(of name: String) -> String { path + "/" + name }

    /// The names of all files in it.
    package var names: [String] {
        let box = Names()
        withExtendedLifetime(box) {
            _ = httpdns_directory_each(path, Unmanaged.passUnretained(box).toOpaque()) {
                context, name in
                guard let context else { return }
                Unmanaged<Names>.fromOpaque(context).takeUnretainedValue().found.append(
                    String(cString: name))
            }
        }
        return box.found
    }

    private final class Names {
        var found: [String] = []
    }

    /// Whether a file in it may have that name. Anything else, from a table of somebody else, could
    /// lead out of it.
    package static func isName(_ name: some Sequence<UInt8>) -> Bool {
        var count = 0
        for octet in name {
            guard (0x30...0x39).contains(octet) || (0x61...0x66).contains(octet) else {
                return false
            }
            count += 1
        }
        return count == nameOctets
    }

    /// Because: 128 bits, four to a digit.
    static let nameOctets = 32

    /// Removes a file; who reads it goes on reading. A name that is none of ours is left alone.
    package func remove(_ name: String) {
        guard PrivateDirectory.isName(name.utf8) else { return }
        unlink(path(of: name))
    }

    /// Removes a file that nobody writes and that `isWanted` denies, asked once its lock is held.
    package func remove(_ name: String, unless isWanted: () -> Bool) {
        guard PrivateDirectory.isName(name.utf8) else { return }
        let descriptor = httpdns_file_open_own(path(of: name))
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard httpdns_try_lock_descriptor(descriptor) == 0, !isWanted() else { return }
        remove(name)
    }
}

/// A file that is being written: locked until it is closed, so that nobody takes it for a leftover.
package final class PrivateBodyWriter: @unchecked Sendable {
    // Safety: the descriptor never changes, and is closed once, with the last owner; calls come
    // from one thread.
    package let name: String
    private let descriptor: Int32

    /// Makes a new file.
    ///
    /// - Throws: ``PrivateFile/Refusal``, with the system's word.
    package init(in directory: PrivateDirectory) throws(PrivateFile.Refusal) {
        for _ in 0..<4 {
            let name = PrivateBodyWriter.randomName()
            let path = directory.path(of: name)
            let made = httpdns_file_create_private(path)
            guard made >= 0 else {
                throw PrivateFile.Refusal(description: "\(path): \(systemWord(0 &- made))")
            }
            var facts = httpdns_file()
            // Another process may have taken it for a leftover before it was locked.
            if fchmod(made, 0o600) == 0, httpdns_lock_descriptor(made) == 0,
                httpdns_file_facts(nil, made, &facts) == 0,
                PrivateFile.identity(path)
                    == PrivateFile.Identity(device: facts.device, node: facts.node)
            {
                self.name = name
                descriptor = made
                return
            }
            close(made)
        }
        throw PrivateFile.Refusal(description: "\(directory.path): new files go at once")
    }

    deinit { close(descriptor) }

    /// - Throws: ``PrivateFile/Refusal``: a full disk, for one.
    package func write(_ octets: [UInt8]) throws(PrivateFile.Refusal) {
        var done = 0
        while done < octets.count {
            let count = octets.withUnsafeBytes {
                CHTTPDNSSystem.write(
                    descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if count < 0, httpdns_errno() == EINTR { continue }
            guard count > 0 else { throw PrivateFile.Refusal(description: systemWord()) }
            done += count
        }
    }

    /// 128 random bits: nothing of what is in it shows in its name.
    private static func randomName() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let text = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }.joined()
    }
}

/// A file that is being read from its beginning; it stays whole when it is removed meanwhile.
package final class PrivateBodyReader: @unchecked Sendable {
    // Safety: the descriptor never changes, and is closed once, with the last owner; reads name
    // their place in the file.
    private let descriptor: Int32

    /// Why there is nothing to read.
    package enum Fault: Error, Sendable, Hashable {
        /// No such file of ours, or one of another length.
        case gone
        /// The process or the machine has no room for another open file now.
        case crowded
    }

    package init(
        _ name: String, in directory: PrivateDirectory, octets: Int64
    ) throws(Fault) {
        guard PrivateDirectory.isName(name.utf8) else { throw .gone }
        let opened = httpdns_file_open_own(directory.path(of: name))
        guard opened >= 0 else {
            throw [EMFILE, ENFILE, ENOMEM].contains(httpdns_errno()) ? .crowded : .gone
        }
        var facts = httpdns_file()
        guard httpdns_file_facts(nil, opened, &facts) == 0, facts.octets == octets else {
            close(opened)
            throw .gone
        }
        descriptor = opened
    }

    deinit { close(descriptor) }

    /// Octets read, 0 at the end; nil when the system refuses.
    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count < 0, httpdns_errno() == EINTR { continue }
            return count < 0 ? nil : count
        }
    }
}
