internal import HTTPDNSExchange
internal import HTTPDNSRules

/// Keeps one exchange while it comes, for those that record it.
struct FixtureTape {
    private let request: RuledRequest
    private let recorders: [FixtureRecorder]
    var head: ResponseHead?
    private var body: [UInt8] = []
    private var isTooLong = false

    init(_ request: RuledRequest, _ recorders: [FixtureRecorder]) {
        self.request = request
        self.recorders = recorders
    }

    mutating func take(_ octets: UnsafeRawBufferPointer) {
        guard !isTooLong else { return }
        guard body.count + octets.count <= FixtureTape.mostOctets else {
            isTooLong = true
            body = []
            return
        }
        body.append(contentsOf: octets)
    }

    /// The exchange has ended well. One whose body was too long is not kept: it could not be
    /// replayed.
    func keep() {
        if let head, !isTooLong { keep(head) }
    }

    /// A redirect is followed; its own body is nobody's.
    func keep(_ head: ResponseHead) {
        let fixture = Fixture(
            request.method, request.url, requestBody: request.body, status: head.status,
            fields: head.fields, body: body)
        for recorder in recorders { recorder.keep(fixture) }
    }

    /// Because: recordings are test data in memory, and what is longer belongs into a capture; 16
    /// MiB.
    private static let mostOctets = 16_777_216
}
