import TestSupport
import Testing

@testable import HTTPDNSRules

/// What a stub's file is, by its name and by how it begins.
@Suite struct MediaTypeTests {
    @Test(
        arguments: [
            ("a.heif", "image/heif"), ("a.apng", "image/apng"), ("a.jxl", "image/jxl"),
            ("a.jfif", "image/jpeg"), ("a.jpe", "image/jpeg"), ("a.SVGZ", "image/svg+xml"),
            ("a.mjs", "text/javascript; charset=utf-8"), ("a.otf", "font/otf"),
            ("a.m3u8", "application/vnd.apple.mpegurl"), ("a.m4a", "audio/mp4"),
            ("a.mov", "video/quicktime"), ("a.b/c.json", "application/json"), ("a.unheard", nil),
            ("noextension", nil), (".png", nil), ("a.png", "image/png"),
        ] as [(String, String?)])
    func `a name tells the type`(name: String, type: String?) {
        #expect(MediaType.ofPath("/dir/" + name) == type)
    }

    @Test(
        arguments: [
            ("<svg xmlns='x'/>", "image/svg+xml"), (" \n<svg>", "image/svg+xml"),
            ("<?xml version='1.0'?>\n<!-- a > b -->\n<svg\nx='1'>", "image/svg+xml"),
            ("<!-- made by --><SVG>", "image/svg+xml"),
            ("\u{FEFF}<?xml?><!DOCTYPE svg PUBLIC \"a\"><svg>", "image/svg+xml"),
            ("<svgx>", nil), ("<?xml version='1.0'?><rss>", "application/xml"),
            ("<?xml version='1.0'?><html xmlns='x'>", "application/xhtml+xml"),
            ("<!doctype html>", "text/html; charset=utf-8"),
            ("\n\n<!DOCTYPE HTML PUBLIC>", "text/html; charset=utf-8"),
            ("<HTML>", "text/html; charset=utf-8"), ("<p class=a>", "text/html; charset=utf-8"),
            ("<!-- a --><div>", "text/html; charset=utf-8"), ("<px>", nil),
            ("<!doctype htmlx", nil),
            ("{\"a\": 1}", "application/json"), (" {}", "application/json"),
            ("[]", "application/json"),
            ("[1, 2]", "application/json"), ("[[{\"a\\\"b\":", "application/json"),
            ("[\"a\",", "application/json"), ("[-1.5e+3]", "application/json"),
            ("[null]", "application/json"), ("{a: 1}", nil), ("{\"a\", 1}", nil),
            ("[note] text", nil),
            ("[2026-01-01] started", nil), ("[1. x", nil), ("[truely]", nil), ("{\"a\\", nil),
            ("{\"a", nil), ("[", nil), ("<", nil), ("", nil), ("plain text", nil),
            ("II*\0", "image/tiff"), ("RIFF....WAVE", "audio/wav"), ("RIFF....WEBP", "image/webp"),
            ("....ftypM4A ", "audio/mp4"), ("....ftypqt  ", "video/quicktime"),
            ("....ftypmif1", "image/heif"), ("....ftypnone", nil), ("OTTO", "font/otf"),
            ("%PDF-1.7", "application/pdf"),
        ] as [(String, String?)])
    func `a beginning tells the type`(text: String, type: String?) {
        #expect(MediaType.ofContent(Array(text.utf8)) == type)
    }

    @Test func `of every beginning of a text some type or none is told`() {
        let texts = [
            "<?xml version='1.0'?><!-- c --><!DOCTYPE svg [ <!ENTITY a 'b'> ]><svg/>",
            "[[{\"a\\u00e9\\\\\": [1, 2]}], -12.5e-3]", "<!-- <!-- --><title>x</title>",
        ]
        for text in texts {
            for count in 0...text.utf8.count {
                _ = MediaType.ofContent(Array(text.utf8.prefix(count)))
            }
        }
        let long = Array(("<!--" + String(repeating: "a", count: 5_000) + "--><svg>").utf8)
        #expect(MediaType.ofContent(long) == "text/html; charset=utf-8")
    }
}
