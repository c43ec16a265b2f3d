import HTTPDNSExchange
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTransport
import Testing

/// HTTP/2 servers that always have more to say, and say nothing.
@Suite(.timeLimit(.minutes(3))) struct EndlessFramesTests {
    /// Frames of which libcurl makes nothing that it would hand on.
    enum Frame: UInt8, CaseIterable, Sendable {
        case emptyData = 0x0
        case answeredPing = 0x6
        /// Source: RFC 9113 §5.5: unknown types are ignored.
        case unknown = 0xFA

        /// About as much as a socket's buffer takes.
        var many: [UInt8] {
            let payload = [UInt8](repeating: 7, count: self == .answeredPing ? 8 : 0)
            let isOfStream = self == .emptyData
            let one =
                [0, 0, UInt8(payload.count), rawValue, self == .answeredPing ? 1 : 0]
                + [0, 0, 0, isOfStream ? 1 : 0] + payload
            return Array(repeatElement(one, count: 65_536 / one.count).joined())
        }
    }

    @Test(arguments: Frame.allCases)
    func `frames without end keep nobody else waiting, and the request can be given up`(
        frame: Frame
    ) async throws {
        let lab = try TrustedLab()
        let many = frame.many
        let identity = try lab.root.leaf(["flood.example.test"], commonName: "Lab origin")
        let flood = try RawTLSServer(identity, .http2) {
            HTTP2Script { stream, _, server in
                // Source: RFC 7541 appendix A: 8 is ":status: 200".
                server.frame(0x1, flags: 0x4, stream: stream, [0x88])
                while let link = server.link, !link.isOver { link.send(many) }
            }
        }
        let other = try lab.server(for: ["shop.example.test"])
        let transport = Transport()
        let recorder = Recorder()
        let endpoint = Endpoint(address: flood.address, port: flood.port)
        let request = try secureRequest(
            to: "flood.example.test", at: endpoint, verifier: lab.verifier)
        let transfer = transport.start(request, observer: recorder)
        let begun = await recorder.wait { !$0.heads.isEmpty || !$0.results.isEmpty }
        #expect(begun.head?.status == 200)
        // The frames come by now, on the thread that serves this one, too.
        let story = await run(
            try secureRequest(
                to: "shop.example.test", at: other.endpoint, verifier: lab.verifier), transport)
        #expect(story.text == "hello shop.example.test")
        #expect(recorder.story.results.isEmpty)
        transfer.cancel()
        #expect(await recorder.end().failure == .cancelled)
        withExtendedLifetime(transport) {}
    }

    @Test func `a head without end is too large over HTTP 2, as it is over HTTP 1`() async throws {
        let lab = try TrustedLab()
        let identity = try lab.root.leaf(["flood.example.test"], commonName: "Lab origin")
        // Source: RFC 7541 §6.2.1, §6.1: a field of 3,968 octets that is added to the table, and then
        // named ten thousand times (index 62) by an octet each.
        let field: [UInt8] =
            [0x40, 1, 0x61, 0x7F, 0x81, 0x1E] + [UInt8](repeating: 0x62, count: 3_968)
        let bomb = [0x88] + field + [UInt8](repeating: 0xBE, count: 10_000)
        let flood = try RawTLSServer(identity, .http2) {
            HTTP2Script { stream, _, server in
                server.frame(0x1, flags: 0x4, stream: stream, bomb)
            }
        }
        let story = await run(
            try secureRequest(
                to: "flood.example.test",
                at: Endpoint(address: flood.address, port: flood.port), verifier: lab.verifier))
        #expect(story.failure == .headTooLarge)
        #expect(story.heads.isEmpty)
    }
}
