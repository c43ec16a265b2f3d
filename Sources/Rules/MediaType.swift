/// What a file is, told by its name or its first octets.
///
/// A table of our own, and not the machine's (shared-mime-info, libmagic): the same rules answer the
/// same everywhere, and no file is given to a parser for it.
package enum MediaType {
    /// By the extension of a path; nil for one that is not known here.
    package static func ofPath(_ path: String) -> String? {
        PlainPath.fileExtension(of: path[...]).flatMap { byExtension[$0] }
    }

    /// By the first octets, as many as ``tellingOctets``; nil where they tell nothing.
    /// Source: WHATWG MIME Sniffing §6, §7.1.
    package static func ofContent(_ octets: some Collection<UInt8>) -> String? {
        let head = Array(octets.prefix(tellingOctets))
        for (start, type) in signatures where head.starts(with: start) { return type }
        return ofContainer(head) ?? TextBeginning.type(of: head)
    }

    /// Source: WHATWG MIME Sniffing §5.2: the resource header.
    package static let tellingOctets = 1_445

    /// What images are called.
    package static let imageExtensions = byExtension.filter { $0.value.hasPrefix("image/") }
        .keys.sorted()

    /// Formats that say behind their own mark what is in them.
    private static func ofContainer(_ head: [UInt8]) -> String? {
        let word = { (place: Int) in
            String(decoding: head.dropFirst(place).prefix(4), as: UTF8.self)
        }
        switch (word(0), word(4), word(8)) {
        case ("RIFF", _, "WEBP"): return "image/webp"
        case ("RIFF", _, "WAVE"): return "audio/wav"
        case ("RIFF", _, "AVI "): return "video/x-msvideo"
        case ("FORM", _, "AIFF"): return "audio/aiff"
        // ISO base media files name their brand. Source: ISO/IEC 14496-12 §4.3; the MP4
        // registration authority's list of brands.
        case (_, "ftyp", let brand): return brands[brand]
        default: return nil
        }
    }

    private static let brands = [
        "avif": "image/avif", "avis": "image/avif", "heic": "image/heic", "heix": "image/heic",
        "hevc": "image/heic-sequence", "mif1": "image/heif", "msf1": "image/heif-sequence",
        "mp41": "video/mp4", "mp42": "video/mp4", "isom": "video/mp4", "iso2": "video/mp4",
        "iso4": "video/mp4", "iso5": "video/mp4", "iso6": "video/mp4", "avc1": "video/mp4",
        "dash": "video/mp4", "M4V ": "video/mp4", "M4A ": "audio/mp4", "M4B ": "audio/mp4",
        "qt  ": "video/quicktime", "3gp4": "video/3gpp", "3gp5": "video/3gpp",
    ]

    /// Source: WHATWG MIME Sniffing §6.1 to §6.4; of TIFF its revision 6.0, section 2; of JPEG XL
    /// ISO/IEC 18181-2; of FLAC RFC 9639 §6; of WebAssembly its core specification, "Modules".
    private static let signatures: [([UInt8], String)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
        ([0xFF, 0xD8, 0xFF], "image/jpeg"), (Array("GIF87a".utf8), "image/gif"),
        (Array("GIF89a".utf8), "image/gif"), (Array("BM".utf8), "image/bmp"),
        ([0x00, 0x00, 0x01, 0x00], "image/x-icon"), ([0x49, 0x49, 0x2A, 0x00], "image/tiff"),
        ([0x4D, 0x4D, 0x00, 0x2A], "image/tiff"), ([0xFF, 0x0A], "image/jxl"),
        (
            [0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A],
            "image/jxl"
        ),
        (Array("%PDF-".utf8), "application/pdf"),
        (Array("%!PS-Adobe-".utf8), "application/postscript"),
        (Array("OggS\0".utf8), "application/ogg"), (Array("ID3".utf8), "audio/mpeg"),
        (Array("fLaC".utf8), "audio/flac"), ([0x1A, 0x45, 0xDF, 0xA3], "video/webm"),
        (Array("wOFF".utf8), "font/woff"), (Array("wOF2".utf8), "font/woff2"),
        (Array("OTTO".utf8), "font/otf"), ([0x00, 0x01, 0x00, 0x00], "font/ttf"),
        (Array("ttcf".utf8), "font/collection"), ([0x1F, 0x8B, 0x08], "application/gzip"),
        ([0x50, 0x4B, 0x03, 0x04], "application/zip"),
        ([0x00, 0x61, 0x73, 0x6D], "application/wasm"),
    ]

    /// Source: the IANA registry of media types; RFC 9239 for JavaScript, RFC 8216 §4 for playlists.
    private static let byExtension: [String: String] = {
        let types = [
            "image/png": "png", "image/apng": "apng", "image/jpeg": "jpg jpeg jpe jfif pjpeg",
            "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg svgz",
            "image/avif": "avif", "image/bmp": "bmp dib", "image/x-icon": "ico cur",
            "image/heic": "heic", "image/heif": "heif", "image/jxl": "jxl",
            "image/tiff": "tif tiff", "image/jp2": "jp2",
            "application/json": "json map", "application/ld+json": "jsonld",
            "application/manifest+json": "webmanifest", "application/geo+json": "geojson",
            "application/x-ndjson": "ndjson jsonl", "text/html; charset=utf-8": "html htm",
            "application/xhtml+xml": "xhtml xht", "text/css; charset=utf-8": "css",
            "text/javascript; charset=utf-8": "js mjs cjs",
            "text/plain; charset=utf-8": "txt text log", "text/csv; charset=utf-8": "csv",
            "text/tab-separated-values; charset=utf-8": "tsv",
            "text/markdown; charset=utf-8": "md markdown", "text/vtt; charset=utf-8": "vtt",
            "text/calendar; charset=utf-8": "ics", "text/vcard; charset=utf-8": "vcf",
            "application/xml": "xml xsl xsd", "application/rss+xml": "rss",
            "application/atom+xml": "atom", "application/yaml": "yaml yml",
            "application/pdf": "pdf", "application/rtf": "rtf", "application/epub+zip": "epub",
            "application/zip": "zip", "application/gzip": "gz", "application/x-tar": "tar",
            "application/zstd": "zst", "application/wasm": "wasm",
            "application/octet-stream": "bin",
            "application/msword": "doc", "application/vnd.ms-excel": "xls",
            "application/vnd.ms-powerpoint": "ppt",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
            "application/vnd.apple.mpegurl": "m3u8", "application/dash+xml": "mpd",
            "video/mp4": "mp4 m4v", "video/iso.segment": "m4s", "video/mp2t": "ts",
            "video/mpeg": "mpg mpeg", "video/quicktime": "mov qt", "video/webm": "webm",
            "video/matroska": "mkv", "video/ogg": "ogv", "video/3gpp": "3gp",
            "video/x-msvideo": "avi", "audio/mp4": "m4a m4b", "audio/mpeg": "mp3",
            "audio/aac": "aac", "audio/wav": "wav", "audio/ogg": "ogg oga opus",
            "audio/flac": "flac", "audio/aiff": "aif aiff", "audio/webm": "weba",
            "audio/midi": "mid midi", "font/woff": "woff", "font/woff2": "woff2",
            "font/ttf": "ttf", "font/otf": "otf", "font/collection": "ttc",
        ]
        let pairs = types.flatMap { type, names in
            names.split(separator: " ").map { (String($0), type) }
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }()
}
