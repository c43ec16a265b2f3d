/// Finds in libcurl's log that the peer has not processed a request over HTTP/2.
///
/// Source: curl 7.88 to 8.15: "REFUSED_STREAM, retrying a fresh connect"; "Using Stream ID: 3" or
/// "[HTTP/2] [3] OPENED stream"; "recveived GOAWAY, error=0, last_stream=1" (so in 7.88).
struct RefusalLog {
    private(set) var isRefused = false
    /// The peer gives the connection up.
    private(set) var hasGoAway = false
    private(set) var stream: UInt32?

    /// The request goes out anew.
    mutating func restart() { self = RefusalLog() }

    /// The last stream that the peer names in a `GOAWAY`; nil for any other line.
    @discardableResult mutating func read(_ line: UnsafeRawBufferPointer) -> UInt32? {
        // Most lines are something else.
        guard let first = line.first, RefusalLog.beginnings.contains(first) else { return nil }
        return read(Array(line)[...])
    }

    @discardableResult mutating func read(_ line: ArraySlice<UInt8>) -> UInt32? {
        if line.starts(with: "REFUSED_STREAM".utf8) {
            isRefused = true
            return nil
        }
        if line.starts(with: "Using Stream ID: ".utf8) {
            stream = RefusalLog.number(line.dropFirst("Using Stream ID: ".utf8.count))
            return nil
        }
        if line.starts(with: "[HTTP/2] [".utf8), RefusalLog.has("OPENED stream", line) != nil {
            stream = RefusalLog.number(line.dropFirst("[HTTP/2] [".utf8.count))
            return nil
        }
        guard RefusalLog.has("GOAWAY", line) != nil,
            let last = RefusalLog.has("last_stream=", line).flatMap({ RefusalLog.number($0) })
        else { return nil }
        hasGoAway = true
        // Source: RFC 9113 §6.8: what is above was not and will not be processed.
        if let stream, stream > last { isRefused = true }
        return last
    }

    /// What the lines begin with that are read.
    private static let beginnings = Array("RU[r".utf8)

    /// What stands behind `word`.
    private static func has(_ word: String, _ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let mark = Array(word.utf8)
        var rest = line
        while rest.count >= mark.count {
            if rest.starts(with: mark) { return rest.dropFirst(mark.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func number(_ octets: ArraySlice<UInt8>) -> UInt32? {
        UInt32(String(decoding: octets.prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
}
