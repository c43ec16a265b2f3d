internal import FuzzLoop
internal import HTTPDNSWire

/// libFuzzer's entry: decode, encode, decode again, and the same message must come back.
///
/// A typed error is a fine answer to any octets; a trap, or a message that changes, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    guard let message = try? Message(decoding: octets) else { return 0 }
    for record in message.answers + message.authorities + message.additionals {
        let text = record.name.description + record.data.presentation(type: record.type)
        precondition(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "raw octets in text")
    }
    // Names that were compressed may not fit any more once written in full.
    guard let encoded = try? message.encode() else { return 0 }
    guard let again = try? Message(decoding: encoded) else {
        preconditionFailure("an encoded message does not decode")
    }
    precondition(again == message, "a message changed on its way through the wire form")
    return 0
}

/// What SwiftPM starts in place of `main`.
@_cdecl("WireFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
