internal import FuzzLoop
internal import HTTPDNSStore

@testable internal import HTTPDNSCapture

/// libFuzzer's entry: any octets are the detail of a row of a capture, or damaged.
///
/// What is read is shown in each form, and written and read again it is the same. A trap, or a record
/// that changes on its way, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var row = CaptureRow()
    row.detail = Array(UnsafeBufferPointer(start: start, count: count))
    row.kind = CaptureRecord.Kind.allCases[count % CaptureRecord.Kind.allCases.count].rawValue
    // Numbers of whatever size stand in the columns.
    let seed = row.detail.reduce(Int64(0)) { $0 &* 31 &+ Int64($1) }
    row.startedMicroseconds = seed &* 0x5851_F42D_4C95_7F2D
    row.totalMicroseconds = seed & 1 == 0 ? nil : row.startedMicroseconds
    guard let record = RecordForm.record(row) else { return 0 }
    _ = CaptureJSON.object(record, withBodies: true)
    _ = HARWriter.file([record])
    _ = CapturePage.page([record], title: "fuzz")
    var sums = CaptureStatistics()
    sums.add(record)
    // What a stranger wrote may be rounded once.
    guard let kept = RecordForm.record(RecordForm.row(record)),
        let again = RecordForm.record(RecordForm.row(kept))
    else { preconditionFailure("a row that was written cannot be read") }
    precondition(kept == again, "a record changed on its way")
    return 0
}

/// What SwiftPM starts in place of `main`.
@_cdecl("CaptureRowsFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
