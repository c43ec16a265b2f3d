import Glibc
import HTTPDNSDiagnosis
import HTTPDNSEvidence
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSWire
import Testing

/// Runs on a machine that has nothing left to ask with.
@Suite(.timeLimit(.minutes(3))) struct ShortageRunTests {
    /// A resolver on this machine that cannot be asked, for this reason.
    private struct Unasked: ResolverBackend {
        let failure: QueryFailure

        var label: String { "tls://127.0.0.1" }
        var isAuthenticated: Bool { true }
        var isLocal: Bool { true }
        var supportedTypes: Set<RecordType>? { nil }

        func ask(
            _ question: Question, deadline: Monotonic
        ) async throws(QueryFailure) -> Testimony { throw failure }
    }

    private func diagnosed(_ failures: QueryFailure...) async throws -> Diagnosis {
        var options = DiagnosisOptions(trusted: failures.map { Unasked(failure: $0) })
        options.nameservers = []
        options.asksSystem = false
        options.hostsFile = nil
        options.fetches = false
        options.staysOnLoopback = true
        return try await Diagnosis.run(try HostName("www.shop.test"), options: options)
    }

    @Test func `what this machine lacks is evidence, each once, and decides before silence does`()
        async throws
    {
        let diagnosis = try await diagnosed(
            .unreachable("127.0.0.1:853: Too many open files"))
        #expect(diagnosis.evidence.shortages == ["Too many open files"])
        #expect(diagnosis.verdict == .inconclusive(missing: [.localResources]))
    }

    @Test func `what the network says is no shortage`() async throws {
        let diagnosis = try await diagnosed(.unreachable("127.0.0.1:853: Connection refused"))
        #expect(diagnosis.evidence.shortages.isEmpty)
        #expect(diagnosis.verdict != .inconclusive(missing: [.localResources]))
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS])
    func `the system's words for it are known`(code: Int32) {
        #expect(LocalShortage.named(by: "127.0.0.1:53: " + String(cString: strerror(code))) != nil)
    }

    @Test(arguments: [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, EACCES, EPERM])
    func `its words for the network are others`(code: Int32) {
        #expect(LocalShortage.named(by: String(cString: strerror(code))) == nil)
    }
}
