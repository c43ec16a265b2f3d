internal import HTTPDNSRedaction

/// What is taken out of a record before anything is written or told.
///
/// By default, by name: credentials in header fields (`Authorization`, `Proxy-Authorization`, the
/// values of cookies, everything called a token, secret, key, signature …), in queries and
/// fragments of URLs, in form fields, in members of JSON at any depth, in parts of
/// `multipart/form-data`, and in text that looks like one of these, a header field among them; the
/// userinfo of URLs; the signatures of HTTP-DNS services; and, by their form, JSON web tokens, private
/// keys and what follows `Bearer`.
/// Names are compared without case, `-`, `_` and dots. docs/capture.md has the lists.
///
/// Binary bodies are kept as they are; who captures an application that logs in by such has to set
/// ``CaptureLimits/maximumBodyOctets`` to 0.
public struct CaptureRedaction: Sendable, Hashable {
    /// More header fields whose value is taken out.
    public var fields: Set<String> = []
    /// More names of query items, form fields and members of JSON whose value is taken out.
    public var names: Set<String> = []
    /// Header fields and other names that stay, whatever is said elsewhere.
    public var revealed: Set<String> = []
    /// Why nothing is taken out; nil: it is.
    public private(set) var revealsAllBecause: String?

    /// The default rules.
    public init() {}

    /// Nothing is taken out: whoever reads the capture has every password, cookie and token in it.
    ///
    /// - Parameter reason: why that is right: "a test against a server of our own", say.
    public static func dangerouslyNothing(because reason: String) -> CaptureRedaction {
        var redaction = CaptureRedaction()
        redaction.revealsAllBecause = reason
        return redaction
    }

    /// What stands in the place of what was taken out.
    public static let placeholder = SecretNames.placeholder
}

// For what is shown to people, who see no more than a capture keeps
extension CaptureRedaction {
    /// A URL without its secrets.
    package func shown(url: String) -> String { Redactor(self).url(url) }

    /// Words without the secrets of the URLs in them.
    package func shown(text: String) -> String { Redactor(self).text(text) }

    /// Words of this library, without the secrets of what they are about: ``TextRedactor/message(_:)``.
    package func shown(message: String) -> String { Redactor(self).message(message) }

    /// The value of a field without its secrets.
    package func shown(_ value: String, of field: String) -> String {
        Redactor(self).value(of: field, value)
    }
}
