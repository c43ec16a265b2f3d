import HTTPDNSExchange
import Testing

@testable import HTTPDNSTransport

@Suite struct UploadSourceTests {
    private final class Boasting: RequestBodySource {
        let length: Int64? = nil
        private let count: Int

        init(_ count: Int) { self.count = count }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { .filled(count) }
        func whenReadable(_ wake: @escaping @Sendable () -> Void) {}
        func rewind() -> Bool { false }
    }

    @Test(arguments: [(0, 1), (4, 5), (4, 0), (4, -1), (4, Int.max)])
    func `a source that says it filled what it cannot have is a broken source`(
        capacity: Int, count: Int
    ) {
        var upload = Upload(.stream(Boasting(count)))
        var octets = [UInt8](repeating: 0, count: capacity)
        let outcome = octets.withUnsafeMutableBytes { upload.read(into: $0) }
        #expect(
            outcome == .failed("it filled \(count) octets of a buffer of \(capacity)"))
    }
}
