import HTTPDNSCoding
import Testing

/// Codings undone in whatever pieces they come, into whatever room there is.
@Suite struct BodyDecoderTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let coding: ContentCoding
        let packed: [UInt8]
        var testDescription: String { coding.rawValue }
    }

    /// "hello", made by gzip, by Python's zlib (wrapped and not), by brotli and by zstd.
    static let samples = [
        Sample(
            coding: .gzip,
            packed: [
                0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0,
                0x86, 0xA6, 0x10, 0x36, 0x05, 0, 0, 0,
            ]),
        Sample(
            coding: .deflate,
            packed: [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0x06, 0x2C, 0x02, 0x15]),
        Sample(coding: .deflate, packed: [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0]),
        Sample(
            coding: .br, packed: [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03]),
        Sample(
            coding: .zstd,
            packed: [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x05, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C, 0x6F]),
    ]
    static let hello = Array("hello".utf8)

    /// What comes out when `packed` comes in pieces of `piece` octets and `room` octets fit at once.
    private func undo(
        _ codings: [ContentCoding], _ packed: [UInt8], piece: Int = 4_096, room: Int = 4_096
    ) throws(CodingFault) -> [UInt8] {
        let decoder = try BodyDecoder(codings)
        var made: [UInt8] = []
        var output = [UInt8](repeating: 0, count: room)
        for start in stride(from: 0, to: packed.count, by: piece) {
            var rest = packed[start..<min(start + piece, packed.count)]
            var fault: CodingFault?
            var count = 1
            while count > 0, fault == nil {
                count = output.withUnsafeMutableBytes { room in
                    rest.withUnsafeBytes { input in
                        do throws(CodingFault) { return try decoder.read(input, into: room) } catch
                        {
                            fault = error
                            return 0
                        }
                    }
                }
                rest = rest.dropFirst(decoder.taken)
                made += output.prefix(count)
            }
            if let fault { throw fault }
            #expect(rest.isEmpty)
        }
        try decoder.finish()
        return made
    }

    @Test(arguments: samples)
    func `pieces and room of any size make the same body`(sample: Sample) throws {
        for piece in 1...sample.packed.count {
            for room in 1...6 {
                let made = try undo([sample.coding], sample.packed, piece: piece, room: room)
                #expect(made == BodyDecoderTests.hello, "pieces of \(piece), room for \(room)")
            }
        }
    }

    @Test(arguments: samples)
    func `an end at any place but the last is a fault, and no octet at all is no body`(
        sample: Sample
    ) throws {
        for length in 1..<sample.packed.count {
            #expect(throws: CodingFault.truncated(sample.coding), "cut at \(length)") {
                _ = try undo([sample.coding], Array(sample.packed.prefix(length)))
            }
        }
        #expect(try undo([sample.coding], []).isEmpty)
    }

    @Test(arguments: samples)
    func `padding is passed over, and what else follows is a fault`(sample: Sample) throws {
        let padded = sample.packed + [0, 0]
        #expect(try undo([sample.coding], padded, piece: 3, room: 2) == BodyDecoderTests.hello)
        for tail in [[0x41], [0, 0x41]] as [[UInt8]] {
            #expect(throws: CodingFault.self) {
                _ = try undo([sample.coding], sample.packed + tail + tail)
            }
        }
    }

    @Test(arguments: samples.filter { [.gzip, .zstd].contains($0.coding) })
    func `members and frames follow one another`(sample: Sample) throws {
        let twice = sample.packed + sample.packed
        for piece in 1...twice.count {
            let made = try undo([sample.coding], twice, piece: piece, room: 3)
            #expect(made == BodyDecoderTests.hello + BodyDecoderTests.hello)
        }
    }

    @Test(arguments: samples)
    func `octets that are turned over never trap, and never go on for ever`(sample: Sample) {
        for place in sample.packed.indices {
            for bit in 0..<8 {
                var broken = sample.packed
                broken[place] ^= 1 << bit
                let made = try? undo([sample.coding], broken, piece: 5, room: 7)
                #expect((made ?? []).count < 1_000_000)
            }
        }
    }

    @Test func `a frame that wants more memory than the field allows is a fault`() {
        // A window of 16 MiB. Source: RFC 8878 §3.1.1.1.2: exponent 14, mantissa 0.
        let packed: [UInt8] =
            [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x70, 0x29, 0, 0] + BodyDecoderTests.hello
        #expect(throws: CodingFault.broken(.zstd)) { _ = try undo([.zstd], packed) }
    }

    @Test func `fields name codings in any case, and identity is none`() throws {
        #expect(try ContentCoding.list(of: ["GZip , identity", "", "x-gzip"]) == [.gzip, .gzip])
        for none in ["identity", "none", "None", "", " ", ",", "identity, none"] {
            #expect(try ContentCoding.list(of: [none]).isEmpty)
        }
        #expect(throws: CodingFault.unknown("aes128gcm")) {
            _ = try ContentCoding.list(of: ["gzip, aes128gcm"])
        }
        #expect(throws: CodingFault.tooMany(6)) {
            _ = try ContentCoding.list(of: [String](repeating: "gzip", count: 6))
        }
        #expect(ContentCoding.acceptEncoding == "gzip, deflate, br, zstd")
    }
}
