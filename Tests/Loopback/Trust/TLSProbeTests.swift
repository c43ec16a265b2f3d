import CHTTPDNSOpenSSL
import CHTTPDNSSystem
import Foundation
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSTrust
import Testing

@Suite struct TLSProbeTests {
    private let root: Minted
    private let leaf: Minted
    private let host: HTTPDNSNames.Host
    private let verifier: OpenSSLVerifier

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        leaf = try Recipe.leaf("api.example.com").minted(by: root)
        host = .name(try HostName("api.example.com"))
        verifier = try OpenSSLVerifier(policy: TrustPolicy(roots: .pem(root.pem)))
    }

    /// A listening socket on a free port of 127.0.0.1.
    private func listener() throws -> (descriptor: Int32, endpoint: Endpoint) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                try #require(bind(descriptor, plain, length) == 0)
                try #require(listen(descriptor, 4) == 0)
                try #require(getsockname(descriptor, plain, &length) == 0)
            }
        }
        let port = try #require(Port(UInt16(bigEndian: address.sin_port)))
        return (descriptor, Endpoint(address: try IPAddress("127.0.0.1"), port: port))
    }

    /// Serves one handshake on its own thread.
    private func serve(_ listener: Int32, sending chain: [Minted]) throws {
        let context = try Handshake.serverContext(sending: chain)
        let bits = UInt(bitPattern: context)
        Thread.detachNewThread {
            // The client may be gone when this server writes.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard let context = OpaquePointer(bitPattern: bits) else { return }
            defer { SSL_CTX_free(context) }
            let accepted = accept(listener, nil, nil)
            guard accepted >= 0, let connection = SSL_new(context) else { return }
            SSL_set_fd(connection, accepted)
            SSL_accept(connection)
            SSL_free(connection)
            close(accepted)
        }
    }

    @Test func `a probe brings back the proof`() throws {
        let (descriptor, endpoint) = try listener()
        defer { close(descriptor) }
        try serve(descriptor, sending: [leaf])
        let success = try TLSProbe(verifier: verifier).connect(to: endpoint, host: host)
        #expect(success.peer.host == host)
        #expect(success.version == "TLSv1.3")
    }

    @Test func `a probe says why a peer is not trusted`() throws {
        let (descriptor, endpoint) = try listener()
        defer { close(descriptor) }
        try serve(descriptor, sending: [Recipe.leaf("other.test").minted(by: root)])
        do throws(TLSProbe.Failure) {
            _ = try TLSProbe(verifier: verifier).connect(to: endpoint, host: host)
            Issue.record("another's certificate was taken")
        } catch {
            guard case .untrusted(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.code == .wrongName)
        }
    }

    @Test func `a closed port is unreachable and a silent one runs out of time`() throws {
        let (silent, silentEndpoint) = try listener()
        defer { close(silent) }
        let (closed, closedEndpoint) = try listener()
        close(closed)
        let probe = TLSProbe(verifier: verifier, timeoutMilliseconds: 100)
        #expect(throws: TLSProbe.Failure.timedOut(silentEndpoint, waitingFor: "TLS handshake")) {
            try probe.connect(to: silentEndpoint, host: host)
        }
        #expect(throws: TLSProbe.Failure.unreachable(closedEndpoint, "Connection refused")) {
            try probe.connect(to: closedEndpoint, host: host)
        }
    }

    @Test func `a peer that is ready after the deadline is too late`() throws {
        let (descriptor, endpoint) = try listener()
        defer { close(descriptor) }
        let probe = TLSProbe(verifier: verifier, timeoutMilliseconds: 0)
        #expect(throws: TLSProbe.Failure.timedOut(endpoint, waitingFor: "connection")) {
            try probe.connect(to: endpoint, host: host)
        }
    }
}
