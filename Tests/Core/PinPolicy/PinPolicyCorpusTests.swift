import Foundation
import HTTPDNSNames
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

    @Test func `the policies that the documentation shows are read`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "docs/pin-policy.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 1 }.map(\.element)
        let policies = blocks.filter {
            $0.hasPrefix("json\n") && !$0.contains("date-time") || $0.hasPrefix("\n")
        }
        #expect(policies.count == 4)
        for policy in policies {
            let body = policy.drop { $0 != "\n" }
            let read = try PinPolicy(Array(body.utf8), named: "docs/pin-policy.md")
            #expect(read.pins.patterns.first?.description.hasSuffix("example.com") == true)
        }
    }
}
