internal import FuzzLoop
internal import HTTPDNSJSON

/// libFuzzer's entry: parse, write, parse again, and the same value must come back.
///
/// A typed error is a fine answer to any octets; a trap, or a value that changes, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    guard let value = try? JSONValue.parse(octets) else { return 0 }
    let written = JSONWriter.octets(value)
    guard let again = try? JSONValue.parse(written) else {
        preconditionFailure("a written value does not parse")
    }
    precondition(JSONWriter.octets(again) == written, "a value changed on its way through text")
    return 0
}

/// What SwiftPM starts in place of `main`.
@_cdecl("JSONFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
