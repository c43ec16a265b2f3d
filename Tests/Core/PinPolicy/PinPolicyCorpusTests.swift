import Foundation
import HTTPDNSPinPolicy
import HTTPDNSTrust
import Testing

@Suite struct PinPolicyCorpusTests {
    /// `Tests/Fuzz/PinPolicy/corpus`: the fuzzer's seeds, and whatever it has found.
    @Test func `every input of the corpus is a policy that pins, or is refused with a place`()
        throws
    {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(
            at: tests.appending(path: "Fuzz/PinPolicy/corpus"), includingPropertiesForKeys: nil)
        #expect(files.count >= 7)
        var read = 0
        for file in files {
            let octets = [UInt8](try Data(contentsOf: file))
            do throws(PinPolicyError) {
                #expect(!(try PinPolicy(octets, named: "x").pins.isEmpty))
                read += 1
            } catch {
                #expect(error.line != nil, "\(file.lastPathComponent): \(error)")
            }
        }
        #expect(read >= 5)
    }
}
