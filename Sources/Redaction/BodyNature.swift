/// What a media type says of a body.
package struct BodyNature: Sendable {
    package enum Class: Sendable {
        /// Pictures, sounds, archives: no text in which a name could stand.
        case binary
        case multipart
        case text
        case form
        case unknown
    }

    package let kind: Class
    /// Declared to be text, forms among them: in what holds zeros then nothing can be found.
    package let isText: Bool
    package let isJSON: Bool
    /// Programs and pages are full of names and colons, and no names of theirs are secrets.
    package let isProgram: Bool
    /// A program, which may be no more than a call with JSON in it.
    package let isScript: Bool
    /// What follows the type.
    package let parameters: String

    init(_ mediaType: String?) {
        let (type, parameters) = BodyNature.split(mediaType)
        let isForm = type.contains("urlencoded")
        self.parameters = parameters
        isJSON = BodyNature.endsOfJSON.contains { type.hasSuffix($0) }
        isText = isForm || isJSON || type.hasPrefix("text/") || type.hasSuffix("xml")
        isScript = type.hasSuffix("javascript") || type.hasSuffix("ecmascript")
        isProgram = isScript || type == "text/css" || type == "text/html"
        if type.hasPrefix("multipart/") {
            kind = .multipart
        } else if BodyNature.isBinary(type) {
            kind = .binary
        } else if isForm {
            kind = .form
        } else {
            kind = isText ? .text : .unknown
        }
    }

    /// The type, lower case and without parameters; and these.
    private static func split(_ mediaType: String?) -> (type: String, parameters: String) {
        guard let mediaType else { return ("", "") }
        let type = mediaType.prefix { $0 != ";" }
        let trimmed = type.lowercased().filter { $0 != " " }
        return (trimmed, String(mediaType.dropFirst(type.count)))
    }

    /// One value, or many: RFC 8259, RFC 7464, RFC 8091, and lines of it.
    private static let endsOfJSON = ["json", "json-seq", "jsonl", "jsonlines", "json5"]

    private static func isBinary(_ type: String) -> Bool {
        if type.hasPrefix("image/") { return type != "image/svg+xml" }
        return type.hasPrefix("video/") || type.hasPrefix("audio/") || type.hasPrefix("font/")
            || ["application/pdf", "application/zip", "application/gzip", "application/wasm"]
                .contains(type)
    }
}
