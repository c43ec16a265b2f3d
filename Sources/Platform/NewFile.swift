internal import CHTTPDNSSystem

/// A file of mode 0600 that is written piece by piece and takes its place when it is whole.
package final class NewFile {
    private let path: String
    private let draft: String
    private let descriptor: Int32
    private var isDone = false

    /// Begins a draft beside the place.
    ///
    /// - Throws: ``FileFault``.
    package init(_ path: String) throws(FileFault) {
        self.path = path
        draft = "\(path).\(UInt64.random(in: .min ... .max)).new"
        descriptor = httpdns_file_create_private(draft)
        guard descriptor >= 0 else {
            throw FileFault(path: path, what: "cannot be written: " + systemWord(0 - descriptor))
        }
    }

    // What was not finished leaves nothing behind.
    deinit {
        close(descriptor)
        if !isDone { unlink(draft) }
    }

    /// - Throws: ``FileFault``: no room, say.
    package func write(_ octets: [UInt8]) throws(FileFault) {
        guard !octets.isEmpty else { return }
        let status = httpdns_file_write_all(descriptor, octets, octets.count)
        guard status == 0 else {
            throw FileFault(path: path, what: "cannot be written: " + systemWord(0 - status))
        }
    }

    /// Puts it in its place; what stood there is gone.
    ///
    /// - Throws: ``FileFault``; then the old file is as it was.
    package func finish() throws(FileFault) {
        let status = httpdns_file_rename(draft, path)
        guard status == 0 else {
            throw FileFault(path: path, what: "cannot be replaced: " + systemWord(0 - status))
        }
        isDone = true
    }
}
