internal import FuzzLoop
internal import FuzzedRecords

@testable internal import HTTPDNSRedaction

/// libFuzzer's entry: any octets stand beside a secret, in every place of a record.
///
/// The secret that comes out again, a short look that takes for plain what the whole one does not, and
/// a trap are findings.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    if let finding = RedactionTrial.finding(octets) { preconditionFailure(finding) }
    let (redactor, text) = (TextRedactor(), String(decoding: octets, as: UTF8.self))
    if redactor.isPlain(text: text) {
        precondition(redactor.scanned(text: text) == text, "a text that was taken for plain")
    }
    if redactor.isPlain(url: text) {
        precondition(redactor.scanned(url: text) == text, "a URL that was taken for plain")
    }
    return 0
}

/// What SwiftPM starts in place of `main`.
@_cdecl("RedactionFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
