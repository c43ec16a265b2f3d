/// How the body of a request is framed: by its length or in chunks, never both.
///
/// The fields that say so are the transport's to write. What a caller says by such a field has to be
/// true: a request whose two ends count differently is how one is smuggled inside another.
/// Source: RFC 9112 §6.3, §11.2.
package enum RequestFraming {
    /// What the caller's fields promise of a stream that does not know its own length; nil: nothing.
    ///
    /// - Throws: ``RewriteFault/lengthDiffers(given:)``, ``RewriteFault/transferCoding(_:)``.
    package static func promisedLength(
        _ fields: HTTPFields, of body: RequestBody
    ) throws(RewriteFault) -> Int64? {
        let codings = fields.all("Transfer-Encoding")
        let lengths = fields.all("Content-Length")
        for coding in codings where coding.lowercased() != "chunked" || !lengths.isEmpty {
            throw .transferCoding(RewriteFault.printable(coding))
        }
        guard let given = lengths.first else { return nil }
        guard lengths.allSatisfy({ $0 == given }), let length = length(given) else {
            throw .lengthDiffers(given: RewriteFault.printable(given))
        }
        let known: Int64? =
            switch body {
            case .none: 0
            case .bytes(let octets): Int64(octets.count)
            case .stream(let source): source.length
            }
        guard length == known ?? length else {
            throw .lengthDiffers(given: RewriteFault.printable(given))
        }
        return known == nil ? length : nil
    }

    /// The fields want the body in chunks, whatever is known of its length.
    package static func wantsChunks(_ fields: HTTPFields) -> Bool {
        fields.all("Transfer-Encoding").contains { HTTPFields.same($0, "chunked") }
    }

    /// The fields ask the server whether it wants the body.
    ///
    /// - Throws: ``RewriteFault/expectation(_:)``: there is no other. Source: RFC 9110 §10.1.1.
    package static func expectsContinue(_ fields: HTTPFields) throws(RewriteFault) -> Bool {
        let expectations = fields.all("Expect").filter { !$0.isEmpty }
        for other in expectations where !HTTPFields.same(other, "100-continue") {
            throw .expectation(RewriteFault.printable(other))
        }
        return !expectations.isEmpty
    }

    /// True for a field that is neither sent nor has any effect: it says how a connection is to be used,
    /// and connections are the transport's, or it is meant for a proxy.
    package static func isIgnored(_ field: HTTPFields.Field) -> Bool {
        guard isTransports(field) else { return false }
        switch field.name.lowercased() {
        case "host", "content-length", "transfer-encoding", "expect": return false
        // That is what happens anyhow.
        case "connection": return !HTTPFields.same(field.value, "keep-alive")
        default: return true
        }
    }

    /// True for a field that frames the message or steers the connection: it does not go out as it was
    /// given, the transport writes its own. ``proxyCredentials`` is one: a request's fields go to its
    /// origin, and what opens a proxy is not for the origin to know.
    ///
    /// Source: RFC 9110 §7.6.1, §11.7.2, RFC 9112 §11.2, RFC 9113 §8.2.2.
    package static func isTransports(_ field: HTTPFields.Field) -> Bool {
        // None of them is longer; most others are told apart by that.
        guard field.name.utf8.count <= longestOfTransport else { return false }
        let name = field.name.lowercased()
        return ofTransport.contains(name) || (name == "te" && field.value != "trailers")
    }

    private static let ofTransport: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade",
        "proxy-connection", "expect", "http2-settings", "proxy-authorization",
    ]

    /// The field that shows a proxy who asks; `Proxy.Credentials` are how it is given.
    package static let proxyCredentials = "Proxy-Authorization"

    private static let longestOfTransport = ofTransport.map(\.utf8.count).max() ?? 0

    /// Methods whose requests say that they have no body. Source: RFC 9110 §8.6.
    package static let needsLength: Set<String> = ["POST", "PUT", "PATCH"]

    private static func length(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

/// A source whose length its caller knows.
package final class MeasuredSource: RequestBodySource {
    package let length: Int64?
    private let source: any RequestBodySource

    package init(_ source: any RequestBodySource, length: Int64) {
        self.source = source
        self.length = length
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        source.read(into: buffer)
    }

    package func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        source.whenReadable(wake)
    }

    package var canRewind: Bool { source.canRewind }

    package func rewind() -> Bool { source.rewind() }

    package func letGo() { source.letGo() }
}
