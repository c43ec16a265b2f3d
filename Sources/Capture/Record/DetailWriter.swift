internal import HTTPDNSJSON

/// Writes JSON straight into octets: what is written once a request must cost little.
struct DetailWriter {
    private(set) var octets: [UInt8] = []
    private var needsComma = false
    /// What was written of peers before: they come again with each request of a host.
    private var peers: [CaptureRecord.Peer: [UInt8]] = [:]
    /// The one that came last, mostly the next one, too: the same is told sooner than it is found.
    private var latest: (peer: CaptureRecord.Peer, octets: [UInt8])?

    init() { octets.reserveCapacity(2_048) }

    mutating func object(_ name: StaticString? = nil, _ body: (inout DetailWriter) -> Void) {
        nested(name, 0x7B, 0x7D, body)
    }

    mutating func array(_ name: StaticString? = nil, _ body: (inout DetailWriter) -> Void) {
        nested(name, 0x5B, 0x5D, body)
    }

    private mutating func nested(
        _ name: StaticString?, _ open: UInt8, _ close: UInt8, _ body: (inout DetailWriter) -> Void
    ) {
        begin(name)
        wrapped(open, close, body)
    }

    private mutating func wrapped(
        _ open: UInt8, _ close: UInt8, _ body: (inout DetailWriter) -> Void
    ) {
        octets.append(open)
        needsComma = false
        body(&self)
        octets.append(close)
        needsComma = true
    }

    /// The object of a peer, which `body` writes.
    mutating func object(
        _ name: StaticString, of peer: CaptureRecord.Peer, _ body: (inout DetailWriter) -> Void
    ) {
        begin(name)
        if let latest, latest.peer == peer {
            octets += latest.octets
            return
        }
        if let known = peers[peer] {
            octets += known
            latest = (peer, known)
            return
        }
        let start = octets.count
        wrapped(0x7B, 0x7D, body)
        if peers.count >= DetailWriter.mostPeers { peers = [:] }
        peers[peer] = Array(octets[start...])
    }

    /// Because: an application talks to some dozen hosts at a time.
    private static let mostPeers = 64

    /// An element.
    mutating func put(element text: String) {
        begin(nil)
        string(text)
    }

    mutating func put(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        begin(name)
        string(text)
    }

    mutating func put(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        begin(name)
        digits(number)
    }

    /// Also false.
    mutating func put(_ name: StaticString, _ flag: Bool) {
        begin(name)
        octets.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    mutating func null(_ name: StaticString) {
        begin(name)
        octets.append(contentsOf: "null".utf8)
    }

    /// Gives what was written so far, and begins anew in the same place.
    mutating func take() -> [UInt8] {
        defer {
            octets.removeAll(keepingCapacity: true)
            needsComma = false
        }
        return octets.withUnsafeBufferPointer { Array($0) }
    }

    /// A whole value that is JSON already.
    mutating func put(json: [UInt8]) {
        begin(nil)
        octets += json
    }

    /// True only: what is missing is false.
    mutating func flag(_ name: StaticString, _ flag: Bool) {
        guard flag else { return }
        begin(name)
        octets.append(contentsOf: "true".utf8)
    }

    /// To three digits after the point; nothing that is not finite.
    mutating func put(milliseconds: Double?, _ name: StaticString) {
        guard let milliseconds, DetailWriter.isWritten(milliseconds: milliseconds) else { return }
        let thousandths = Int64((milliseconds * 1_000).rounded())
        begin(name)
        if thousandths < 0 { octets.append(0x2D) }
        let size = thousandths.magnitude
        digits(Int64(size / 1_000))
        let rest = UInt8((size % 1_000) / 10)
        guard size % 1_000 > 0 else { return }
        octets.append(0x2E)
        octets.append(0x30 + rest / 10)
        octets.append(0x30 + rest % 10)
        octets.append(0x30 + UInt8(size % 10))
    }

    /// Because: beyond it a double has no room for what stands behind the point.
    static func isWritten(milliseconds: Double) -> Bool {
        milliseconds.isFinite && abs(milliseconds) < 1e12
    }

    private mutating func begin(_ name: StaticString?) {
        if needsComma { octets.append(0x2C) }
        needsComma = true
        guard let name else { return }
        octets.append(0x22)
        octets.append(
            contentsOf: UnsafeBufferPointer(
                start: name.utf8Start, count: name.utf8CodeUnitCount))
        octets.append(0x22)
        octets.append(0x3A)
    }

    private mutating func digits(_ number: Int64) {
        if number < 0 { octets.append(0x2D) }
        let size = number.magnitude
        // From the front: what is turned round in place is copied first.
        var place: UInt64 = 1
        while size / place >= 10 { place *= 10 }
        while place > 0 {
            octets.append(0x30 + UInt8(size / place % 10))
            place /= 10
        }
    }

    private mutating func string(_ text: String) {
        var text = text
        let isPlain = text.withUTF8 { utf8 in
            guard DetailWriter.isPlain(utf8) else { return false }
            octets.append(0x22)
            octets.append(contentsOf: utf8)
            octets.append(0x22)
            return true
        }
        if !isPlain { octets += JSONWriter.octets(.string(text)) }
    }

    /// ASCII that a string of JSON holds as it is; eight octets at a time.
    static func isPlain(_ octets: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(octets)
        var place = 0
        var found: UInt64 = 0
        while place + 8 <= raw.count {
            found |= marks(raw.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        // What is missing in the last word is a letter.
        var rest = each(0x61)
        while place < raw.count {
            rest = rest << 8 | UInt64(raw[place])
            place += 1
        }
        return found | marks(rest) == 0
    }

    /// The high bit of each octet that is a control character, a quotation mark, a backslash, or no
    /// ASCII; and perhaps of octets behind such a one.
    private static func marks(_ word: UInt64) -> UInt64 {
        let zero = { (word: UInt64) in (word &- each(0x01)) & ~word }
        let isControl = (word &- each(0x20)) & ~word
        let isMark = zero(word ^ each(0x22)) | zero(word ^ each(0x5C)) | zero(word ^ each(0x7F))
        return (word | isControl | isMark) & each(0x80)
    }

    private static func each(_ octet: UInt8) -> UInt64 { UInt64(octet) &* 0x0101_0101_0101_0101 }
}
