internal import CHTTPDNSSystem
internal import Dispatch
internal import Foundation
internal import HTTPDNSExchange

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The body of a task, from which a source is made for each exchange.
struct UploadBody: @unchecked Sendable {
    // Safety: a value, made on the work queue; a stream in it is touched by the one thread that
    // reads it, data and pieces never change.
    enum Kind {
        case none
        case data(Data)
        case pieces(DispatchData)
        case file(URL)
        /// Can be read once; the delegate may have another.
        case stream(SharedStream)
        /// The delegate has the first one, too; where it gives none, the request's own is read.
        case asked(SharedStream?)
    }

    let kind: Kind
    /// Octets in all; nil where nobody knows.
    let length: Int64?

    static let none = UploadBody(kind: .none, length: 0)

    /// What a task or a request carries.
    init(_ body: TaskBody, _ request: URLRequest) throws(LoadingFault) {
        let announced = request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        switch body {
        case .none: self = .none
        case .data(let data): self.init(kind: .data(data), length: Int64(data.count))
        case .pieces(let pieces): self.init(kind: .pieces(pieces), length: Int64(pieces.count))
        case .stream(let stream):
            self.init(kind: .stream(SharedStream(stream: stream)), length: announced)
        case .asked(let own):
            self.init(kind: .asked(own.map { SharedStream(stream: $0) }), length: announced)
        case .file(let url):
            guard url.isFileURL, let size = UploadBody.size(ofFile: url.path) else {
                throw .unreadableFile(url.path)
            }
            self.init(kind: .file(url), length: size)
        case .unreadable: throw .unreadableBody
        }
    }

    /// Octets of a plain file that may be read; nil for anything else.
    ///
    /// Not asked of Foundation, which would look up the names of user and group, too.
    private static func size(ofFile path: String) -> Int64? {
        let file = httpdns_file_open(path)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var facts = httpdns_file()
        guard httpdns_file_facts(nil, file, &facts) == 0, facts.is_plain == 1 else { return nil }
        return facts.octets
    }

    private init(kind: Kind, length: Int64?) {
        self.kind = kind
        self.length = length
    }

    /// True for a body that can be read once, unless the delegate gives it again.
    var isStream: Bool {
        switch kind {
        case .stream, .asked: true
        case .none, .data, .pieces, .file: false
        }
    }

    /// The octets where they are in memory.
    var octets: [UInt8]? {
        switch kind {
        case .none: []
        case .data(let data): [UInt8](data)
        case .pieces(let pieces): [UInt8](pieces)
        case .file, .stream, .asked: nil
        }
    }

    /// The source of one exchange; nil for no body.
    ///
    /// - Parameters:
    ///   - newer: a stream that takes the place of the task's own.
    ///   - supply: asks the delegate for another stream; nil where there is no delegate. To find that
    ///     out takes long, and is done for streams alone.
    func source(
        newer: SharedStream?, supply: @autoclosure () -> InputStreamSource.Supply?
    ) -> (any RequestBodySource)? {
        switch kind {
        case .none: return nil
        case .data(let data): return DataSource(data)
        case .pieces(let pieces): return DataSource(pieces)
        case .file(let url):
            return InputStreamSource(nil, length: length) { give in
                give(InputStream(url: url).map { SharedStream(stream: $0) })
            }
        case .stream(let stream):
            return InputStreamSource(newer ?? stream, length: length, again: supply())
        case .asked(let own):
            guard let supply = supply() else {
                return InputStreamSource(newer ?? own, length: length)
            }
            return InputStreamSource(newer, length: length) { give in supply { give($0 ?? own) } }
        }
    }
}
