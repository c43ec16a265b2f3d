internal import CHTTPDNSSystem

/// A file of mode 0600 that is written piece by piece and takes its place when it is whole. A link is
/// followed; into a pipe or a device the pieces go as they come.
package final class NewFile {
    /// As it was given.
    private let path: String
    private let place: String
    /// Nil: what is there is written to.
    private let draft: String?
    private let descriptor: Int32
    private var isDone = false

    /// Begins a draft beside the place.
    ///
    /// - Throws: ``FileFault``.
    package convenience init(_ path: String) throws(FileFault) {
        switch try OutputPlace(path) {
        case .replaced(let place): try self.init(replacing: place, calledSo: path)
        case .through: try self.init(through: path)
        }
    }

    init(replacing place: String, calledSo path: String) throws(FileFault) {
        self.path = path
        self.place = place
        // Each writer has a name of its own, so that two cannot write into one file.
        let draft = "\(place).\(UInt64.random(in: .min ... .max)).new"
        self.draft = draft
        descriptor = httpdns_file_create_private(draft)
        guard descriptor >= 0 else { throw FileFault("cannot be written", path, descriptor) }
    }

    private init(through path: String) throws(FileFault) {
        self.path = path
        place = path
        draft = nil
        descriptor = httpdns_file_open_through(path)
        guard descriptor >= 0 else { throw FileFault("cannot be written", path, descriptor) }
    }

    // What was not finished leaves nothing behind.
    deinit {
        close(descriptor)
        if !isDone, let draft { unlink(draft) }
    }

    /// - Throws: ``FileFault``: no room, say.
    package func write(_ octets: [UInt8]) throws(FileFault) {
        guard !octets.isEmpty else { return }
        let status = httpdns_file_write_all(descriptor, octets, octets.count)
        guard status == 0 else { throw FileFault("cannot be written", path, status) }
    }

    /// Puts it in its place; what stood there is gone.
    ///
    /// - Throws: ``FileFault``; then the old file is as it was.
    package func finish() throws(FileFault) {
        if let draft {
            let status = httpdns_file_rename(draft, place)
            guard status == 0 else { throw FileFault("cannot be replaced", path, status) }
        }
        isDone = true
    }
}
