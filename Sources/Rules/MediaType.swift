/// What a file is, told by its name or its first octets.
package enum MediaType {
    /// By the extension of a path; nil for one that is not known here.
    package static func ofPath(_ path: String) -> String? {
        PlainPath.fileExtension(of: path[...]).flatMap { byExtension[$0] }
    }

    /// By the first octets; nil where they tell nothing. Source: WHATWG MIME Sniffing §6.1.
    package static func ofContent(_ octets: some Collection<UInt8>) -> String? {
        let head = Array(octets.prefix(16))
        for (start, type) in signatures where head.starts(with: start) { return type }
        if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).starts(with: Array("WEBP".utf8))
        {
            return "image/webp"
        }
        // ISO base media files name their brand. Source: ISO/IEC 14496-12 §4.3.
        guard head.dropFirst(4).starts(with: Array("ftyp".utf8)) else { return nil }
        let brand = String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self)
        return ["avif": "image/avif", "heic": "image/heic", "mp42": "video/mp4"][brand]
    }

    /// What images are called.
    package static let imageExtensions = byExtension.filter { $0.value.hasPrefix("image/") }
        .keys.sorted()

    private static let signatures: [([UInt8], String)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
        ([0xFF, 0xD8, 0xFF], "image/jpeg"), (Array("GIF87a".utf8), "image/gif"),
        (Array("GIF89a".utf8), "image/gif"), (Array("BM".utf8), "image/bmp"),
        ([0x00, 0x00, 0x01, 0x00], "image/x-icon"), (Array("%PDF-".utf8), "application/pdf"),
    ]

    /// Source: the IANA registry of media types.
    private static let byExtension = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "svg": "image/svg+xml", "avif": "image/avif", "bmp": "image/bmp",
        "ico": "image/x-icon", "heic": "image/heic", "tif": "image/tiff", "tiff": "image/tiff",
        "json": "application/json", "html": "text/html; charset=utf-8",
        "htm": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "txt": "text/plain; charset=utf-8",
        "csv": "text/csv; charset=utf-8", "xml": "application/xml", "pdf": "application/pdf",
        "zip": "application/zip", "gz": "application/gzip", "wasm": "application/wasm",
        "mp4": "video/mp4", "webm": "video/webm", "mp3": "audio/mpeg", "wav": "audio/wav",
        "ogg": "audio/ogg", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf",
    ]
}
