internal import FuzzLoop
internal import FuzzedFiles
internal import Glibc
internal import HTTPDNSPlatform
internal import HTTPDNSStore

@testable internal import HTTPDNSCapture

/// libFuzzer's entry: any octets are changes to the file of a capture and its log, four octets each, see
/// ``FileChanges``.
///
/// Whatever comes of it is read as far as it goes, or refused in words. A trap, a hang, records out of
/// order, or something left beside the file is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let place = FuzzedFile.shared
    place.write(FileChanges(Array(UnsafeBufferPointer(start: start, count: count))))
    do throws(CaptureFileFault) {
        let file = try CaptureFile(place.path)
        var last = Int64.min
        try file.read { record in
            precondition(record.id > last, "out of order")
            last = record.id
            _ = CaptureJSON.object(record, withBodies: true)
            return true
        }
        var filter = CaptureFilter()
        filter.host = "none.example.test"
        try file.read(filter) { _ in true }
        filter.host = nil
        filter.last = 2
        try file.read(filter) { _ in true }
        var sums = CaptureStatistics()
        try sums.add(file)
        for number in Int64(1)...4 {
            for side in CaptureRecord.Side.allCases { _ = try file.body(of: number, side) }
        }
        _ = try file.contents()
    } catch { precondition(!error.description.isEmpty, "a fault without words") }
    precondition(!place.hasGrown, "something was left beside the file")
    return 0
}

/// A sound capture, and the changed one.
private final class FuzzedFile {
    nonisolated(unsafe) static let shared = FuzzedFile()  // Safety: libFuzzer has one thread.

    let path: String
    private let database: [UInt8]
    private let log: [UInt8]

    init() {
        let directory = "/tmp/httpdns-fuzz.\(getpid())"
        mkdir(directory, 0o700)
        let sound = directory + "/sound.sqlite"
        let archive = CaptureArchive(
            path: sound, room: CaptureRoom(records: 100, octets: 1 << 20, ageMicroseconds: nil)
        ) { _ in }
        for number in 1...4 {
            var row = RecordForm.row(FuzzedFile.record(number))
            row.stream = number == 3 ? 77 : 0
            archive.add(row)
        }
        for number in Int64(0)..<3 {
            archive.add(
                CapturePieceRow(
                    stream: 77, side: 1, number: number,
                    octets: [UInt8](repeating: 65, count: 3_000)))
        }
        _ = archive.commit()
        database = (try? SmallFile.whole(sound, most: 1 << 24)) ?? []
        log = (try? SmallFile.whole(sound + "-wal", most: 1 << 24)) ?? []
        path = directory + "/changed.sqlite"
    }

    private static func record(_ number: Int) -> CaptureRecord {
        var hop = CaptureRecord.Hop(url: "https://a\(number).example.test/")
        hop.status = 200
        var record = CaptureRecord(
            .exchange, hop, startedAt: CaptureTime(microsecondsSince1970: Int64(number)))
        record.responseBody = .init(Array("hello".utf8))
        return record
    }

    func write(_ changes: FileChanges) {
        let (file, log) = changes.applied(to: database, log)
        put(file, path)
        if log.isEmpty { unlink(path + "-wal") } else { put(log, path + "-wal") }
        unlink(path + "-shm")
    }

    var hasGrown: Bool { access(path + "-shm", F_OK) == 0 || access(path + "-journal", F_OK) == 0 }

    private func put(_ octets: [UInt8], _ path: String) {
        guard let stream = fopen(path, "we") else { preconditionFailure("cannot write \(path)") }
        fwrite(octets, 1, octets.count, stream)
        fclose(stream)
    }
}

/// What SwiftPM starts in place of `main`.
@_cdecl("CaptureFilesFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
