internal import HTTPDNSExchange
internal import HTTPDNSRules

/// Keeps one exchange while it comes, for those that record it.
struct FixtureTape {
    private let request: RuledRequest
    private let recorders: [FixtureRecorder]
    var head: ResponseHead?
    private var body: [UInt8] = []
    private var total: Int64 = 0
    /// The most that one of them keeps.
    private let mostOctets: Int

    init(_ request: RuledRequest, _ recorders: [FixtureRecorder]) {
        self.request = request
        self.recorders = recorders
        mostOctets = recorders.map(\.maximumBodyOctets).max() ?? 0
    }

    mutating func take(_ octets: UnsafeRawBufferPointer) {
        total += Int64(octets.count)
        if total <= mostOctets { body.append(contentsOf: octets) } else { body = [] }
    }

    /// The exchange has ended well. One whose body was too long is kept without it: nothing can be
    /// answered from it, and whoever asks for it is told why.
    func keep() {
        if let head { keep(head) }
    }

    /// A redirect is followed; its own body is nobody's.
    func keep(_ head: ResponseHead) {
        var fixture = Fixture(
            request.method, request.url, requestBody: request.body, status: head.status,
            fields: head.fields, body: body)
        for recorder in recorders where total <= recorder.maximumBodyOctets {
            recorder.keep(fixture)
        }
        fixture.body = []
        for recorder in recorders where total > recorder.maximumBodyOctets {
            recorder.leaveOut?(fixture, total)
        }
    }
}
