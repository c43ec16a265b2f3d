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
}
