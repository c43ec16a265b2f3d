import Glibc
import HTTPDNS
import TestSupport
import Testing

/// A file that is neither a capture nor a HAR file is said to be neither.
@Suite(.timeLimit(.minutes(2))) struct NeitherFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func told(of path: String) async throws -> String {
        let result = try await CaptureTool.run("capture", "show", path)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errorText.split(separator: "\n").count == 1)
        return result.errorText
    }

    @Test(arguments: [
        ("null", "a JSON object with the member"), ("[]", "a JSON object with the member"),
        ("\"har\"", "a JSON object with the member"), ("12", "a JSON object with the member"),
        ("hello there", "a HAR file begins with {"), ("<html>", "a HAR file begins with {"),
    ])
    func `what begins otherwise`(text: String, words: String) async throws {
        let path = try directory.write("file", text)
        let told = try await told(of: path)
        #expect(told.contains("\(path) is neither a capture nor a HAR file: "), "\(told)")
        #expect(told.contains(words), "\(told)")
        #expect(!told.contains("is no SQLite database"))
    }

    @Test func `a HAR file in UTF-16 is told in which encoding one is`() async throws {
        let text = String(decoding: HARWriter.file([CaptureRecord.sample()]), as: UTF8.self)
        for mark in [[], [UInt16(0xFEFF)]] as [[UInt16]] {
            for isBig in [false, true] {
                let octets = (mark + Array(text.utf16)).flatMap { unit -> [UInt8] in
                    let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
                    return isBig ? [high, low] : [low, high]
                }
                let path = directory.path + "/wide.har"
                let file = try #require(fopen(path, "w"))
                fwrite(octets, 1, octets.count, file)
                fclose(file)
                let told = try await told(of: path)
                #expect(told.contains("UTF-16"), "\(mark), big-endian \(isBig): \(told)")
            }
        }
    }

    @Test func `a huge file of nothing is not read`() async throws {
        let path = try directory.write("sparse.har", "")
        #expect(truncate(path, 40 << 30) == 0)
        let told = try await told(of: path)
        #expect(told.contains("is neither a capture nor a HAR file: it begins with zeros"))
    }
}
