import HTTPDNSSecureStream
import Testing

@Suite struct MessageFramingTests {
    private func fed(_ pieces: [[UInt8]]) -> (messages: [[UInt8]], held: Int) {
        var framing = MessageFraming()
        var messages: [[UInt8]] = []
        for piece in pieces {
            piece.withUnsafeBytes { octets in
                framing.receive(octets) { messages.append(Array($0)) }
            }
        }
        return (messages, framing.heldOctets)
    }

    private let stream: [UInt8] = [0, 3, 1, 2, 3, 0, 0, 0, 1, 9]

    @Test func `messages are cut out of one read`() {
        #expect(fed([stream]).messages == [[1, 2, 3], [], [9]])
    }

    @Test func `messages come whole however the stream is cut`() {
        for size in 1...stream.count {
            let pieces = stride(from: 0, to: stream.count, by: size).map {
                Array(stream[$0..<min($0 + size, stream.count)])
            }
            let result = fed(pieces)
            #expect(result.messages == [[1, 2, 3], [], [9]], "in pieces of \(size)")
            #expect(result.held == 0)
        }
    }

    @Test func `an unfinished message is held back`() {
        let result = fed([[0, 5, 1, 2]])
        #expect(result.messages.isEmpty)
        #expect(result.held == 4)
    }

    @Test func `the longest message passes`() {
        let body = [UInt8](repeating: 7, count: 65_535)
        #expect(
            fed([[0xFF, 0xFF] + body.prefix(40_000), Array(body.dropFirst(40_000))]).messages == [
                body
            ])
    }
}

@Suite struct MessageMatchTests {
    /// `a.b` A IN.
    private let query: [UInt8] =
        [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1] + [1, 0x61, 1, 0x62, 0] + [0, 1, 0, 1] + [0, 0, 41]

    private func reply(_ change: (inout [UInt8]) -> Void = { _ in }) -> [UInt8] {
        var reply = query
        reply[2] |= 0x80
        change(&reply)
        return reply
    }

    private func answers(_ reply: [UInt8]) -> Bool {
        reply.withUnsafeBytes { MessageMatch.answers($0, query) }
    }

    @Test func `a reply repeats the question, in any case`() {
        #expect(answers(reply()))
        #expect(answers(reply { $0[13] = 0x41 }))
    }

    @Test func `another name, type or class is another question`() {
        #expect(!answers(reply { $0[13] = 0x63 }))
        #expect(!answers(reply { $0[18] = 28 }))
        #expect(!answers(reply { $0[20] = 3 }))
    }

    @Test func `the query itself and less than a header are no replies`() {
        #expect(!answers(query))
        #expect(!answers(Array(reply().prefix(11))))
        #expect(!answers(Array(reply().prefix(15))))
        #expect(!answers([]))
    }

    @Test func `a reply without a question is left to its reader`() {
        #expect(answers(Array(reply { $0[5] = 0 }.prefix(12))))
    }
}
