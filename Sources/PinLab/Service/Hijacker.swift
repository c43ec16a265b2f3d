public import HTTPDNSNames

/// A network that lies: a DNS server that answers every name with one address, and a server at that
/// address with a certificate for another name.
///
///     let hijacker = try Hijacker(port: origin.port)
///     try hijacker.start()
///     defer { hijacker.stop() }
///     // a client that believes hijacker.dns connects to hijacker.server and sends it nothing
///     #expect(hijacker.server.record.receivedOctets == 0)
public struct Hijacker: Sendable {
    /// The lying DNS server.
    public let dns: LabDNSServer
    /// Where its answers lead.
    public let server: LabServer
    /// Who signed the server's certificate: trusted by nobody, unless a test says so.
    public let authority: TestAuthority

    /// A hijacker at an address of its own.
    ///
    /// - Parameters:
    ///   - address: Where answers lead; other than the true origin's.
    ///   - port: The true origin's port, so that a URL with a port leads here; nil for a free one.
    ///   - name: The name in the certificate.
    ///   - authority: Who signs it; nil for a new authority. A hijacker whose authority is trusted
    ///     still presents the wrong name.
    /// - Throws: ``LabError``.
    public init(
        address: IPAddress = LabAddress.ipv4(host: 66), port: Port? = nil,
        name: String = "hijacker.invalid", authority: TestAuthority? = nil
    ) throws(LabError) {
        let signing: TestAuthority
        if let authority {
            signing = authority
        } else {
            signing = try TestAuthority("Hijacker Root")
        }
        self.authority = signing
        server = try LabServer(
            address: address, port: port, security: .tls(try signing.leaf([.dns(name)]))
        ) { _ in .text("this is not the page you asked for\n") }
        dns = try LabDNSServer { $0.answer([address]) }
    }

    /// Begins to lie.
    ///
    /// - Throws: ``LabError`` when no thread can be started.
    public func start() throws(LabError) {
        try server.start()
        try dns.start()
    }

    /// Ends both.
    public func stop() {
        dns.stop()
        server.stop()
    }
}
