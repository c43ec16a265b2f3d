internal import CHTTPDNSSystem
internal import HTTPDNSPlatform

extension Command {
    /// `httpdns conformance`.
    package static let conformance = Command(
        "conformance", summary: "answer test vectors, one JSON request a line",
        usage: "<REQUESTS >ANSWERS", isHidden: true, options: [],
        details: """
            Each line of standard input is a request {"id":…,"op":…}; each gets one line with its id:
            a result, {"skip":"why"} for an operation that is not there, or {"error":"…"}. The end of
            the input ends it.
            """
    ) { (arguments, console) throws(CommandFault) in
        if let word = arguments.words.first {
            throw .usage("unexpected \(quoted(word)); requests come from standard input")
        }
        // Operations wait for their TLS handshakes, so they get a thread of their own.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isStarted = DetachedThread.start(named: "conformance") {
                ConformanceAdapter.run(
                    reading: { readInput() },
                    writing: { answer in
                        console.output.write(octets: answer)
                        return true
                    })
                continuation.resume()
            }
            if !isStarted { continuation.resume() }
        }
        return .succeeded
    }

    /// The next piece of standard input; empty at its end.
    private static func readInput() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            while true {
                let result = read(0, buffer.baseAddress, buffer.count)
                if result < 0, httpdns_errno() == EINTR { continue }
                count = max(0, result)
                return
            }
        }
    }
}
