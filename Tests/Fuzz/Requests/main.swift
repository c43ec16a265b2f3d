internal import FuzzLoop
internal import HTTPDNSRequestReading

/// What a reader makes of some octets.
private struct Reading {
    var heads: [ClientHead] = []
    var body: [UInt8] = []
    var ends = 0
    var breach: RequestBreach?

    /// - Parameter piece: how many octets come at a time.
    init(_ octets: [UInt8], piece: Int) {
        guard let reader = RequestReader(RequestLimits()) else { return }
        var pending: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: piece) {
            pending += octets[start..<min(octets.count, start + piece)]
            while breach == nil, takeStep(of: reader, &pending) {}
        }
    }

    /// The same requests, whole up to the same one. Which of two breaches in one line is seen first may
    /// depend on the pieces, and with it how much of a broken body was given.
    func agrees(with other: Reading) -> Bool {
        guard heads == other.heads, ends == other.ends, (breach == nil) == (other.breach == nil)
        else { return false }
        guard breach != nil else { return body == other.body }
        return body.starts(with: other.body) || other.body.starts(with: body)
    }

    /// False when more octets are needed.
    private mutating func takeStep(of reader: RequestReader, _ pending: inout [UInt8]) -> Bool {
        let (taken, step) = pending.withUnsafeBytes { reader.read($0) }
        precondition(taken <= pending.count, "more was taken than came")
        pending.removeFirst(taken)
        body += reader.takeBody()
        switch step {
        case .more: return false
        case .end: ends += 1
        case .broken(let breach): self.breach = breach
        case .head:
            do throws(RequestBreach) { heads.append(try reader.head()) } catch { breach = error }
        }
        return true
    }
}

/// libFuzzer's entry: what a client sends is the same requests in whatever pieces it comes.
///
/// The first octet says how large the pieces are. A trap, or a difference, is a finding: two readers
/// that see two requests in the same octets are how requests are smuggled.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = octets.first else { return 0 }
    let sent = Array(octets.dropFirst())
    let whole = Reading(sent, piece: max(1, sent.count))
    let pieces = Reading(sent, piece: Int(first % 32) + 1)
    precondition(whole.agrees(with: pieces), "\(whole) in one piece, \(pieces) in several")
    for head in whole.heads {
        let isPlain = head.target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        precondition(isPlain, "a target that moves the cursor")
    }
    return 0
}

/// What SwiftPM starts in place of `main`.
@_cdecl("RequestsFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
