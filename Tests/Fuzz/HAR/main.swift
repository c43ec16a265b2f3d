internal import FuzzLoop
internal import HTTPDNSCapture

/// libFuzzer's entry: any octets are a HAR file, or refused.
///
/// Whatever is read is written again in each form that we have, and what was written as HAR is one
/// that breaks nothing more. A trap, or a record that is lost on its way, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    guard let reader = try? HARReader(octets) else { return 0 }
    precondition(reader.faults.count <= HARReader.mostFaults, "more faults than are wanted")
    _ = CapturePage.page(reader.records, title: "fuzz")
    for record in reader.records { _ = CaptureJSON.object(record, withBodies: true) }
    guard let again = try? HARReader(HARWriter.file(reader.records)) else {
        preconditionFailure("a file that was written cannot be read")
    }
    precondition(again.records.count <= reader.records.count, "records came from nowhere")
    precondition(
        again.records.map(\.hops.count).reduce(0, +)
            == reader.records.map(\.hops.count).reduce(0, +),
        "a hop was lost")
    return 0
}

/// What SwiftPM starts in place of `main`.
@_cdecl("HARFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
