import HTTPDNSNames
import HTTPDNSTrust
import Testing

@Suite struct PinTests {
    private static let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    private static let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test(arguments: [
        "sha256/" + base64, "sha256//" + base64, "SHA256/" + base64, base64, hex,
        hex.uppercased(), colons(hex),
    ])
    func `a pin is read in each of its forms`(text: String) throws {
        #expect(try Pin(text).description == "sha256/" + Self.base64)
    }

    @Test func `a pin whose base64 begins with a slash is read in both spellings`() throws {
        let base64 = String(repeating: "/", count: 42) + "8="
        let pin = try Pin(base64)
        #expect(pin.sha256 == [UInt8](repeating: 0xFF, count: 32))
        #expect(try Pin("sha256/" + base64) == pin)
        #expect(try Pin("sha256//" + base64) == pin)
        #expect(try Pin(pin.description) == pin)
    }

    private static let refused: [(String, PinError)] = [
        ("", .empty), (" " + base64, .whiteSpace), (base64 + "\n", .whiteSpace),
        ("sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=", .algorithm("sha1")),
        ("md5/DmxUShsZuNiqPQsX2Oi9uv2sCnw=", .algorithm("md5")),
        ("sha512/" + base64, .algorithm("sha512")), ("sha256/a", .notBase64),
        ("sha256/" + hex, .length(octets: 48)), (String(base64.dropLast()), .notBase64),
        ("AAAA", .length(octets: 3)), ("sha256/", .length(octets: 0)), ("sha256", .notBase64),
        (String(hex.dropLast()) + "g", .length(octets: 48)), ("pin-sha256=\"\"", .notBase64),
    ]

    @Test(arguments: refused)
    func `what is not a pin is refused with its reason`(text: String, error: PinError) {
        #expect(throws: error) { try Pin(text) }
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("EXAMPLE.com.", "example.com", true),
        ("example.com", "a.example.com", false), ("*.example.com", "a.example.com", true),
        ("*.example.com", "example.com", false), ("*.example.com", "a.b.example.com", false),
        ("*.example.com", "aexample.com", false), ("**.example.com", "example.com", true),
        ("**.example.com", "a.b.example.com", true), ("**.example.com", "dexample.com", false),
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
        ("::1", "0:0::1", true), ("**.test", "127.0.0.1", false),
    ])
    func `a pattern covers these hosts`(pattern: String, host: String, covers: Bool) throws {
        #expect(try HostPattern(pattern).matches(Self.host(host)) == covers)
    }

    @Test(arguments: ["", "*", "**", "*.", "a.*.b", "*a.b", "***.a", "*.*.a", "a b", "*.127.1"])
    func `what is not a pattern is refused`(text: String) {
        #expect(throws: HostPatternError.self) { try HostPattern(text) }
    }

    @Test func `the most specific pattern decides alone`() throws {
        var pins = PinSet()
        let all = (0..<5).map { Pin(sha256: [UInt8](repeating: $0, count: 32)) }.compactMap { $0 }
        let patterns = [
            "**.com", "**.example.com", "*.example.com", "**.a.example.com", "a.example.com",
        ]
        for (pattern, pin) in zip(patterns, all) {
            try pins.add([pin], for: HostPattern(pattern), backup: .waived)
        }
        let decided = { (host: String) in
            try pins.pins(for: Self.host(host))?.pattern.description
        }
        #expect(try decided("a.example.com") == "a.example.com")
        #expect(try decided("b.example.com") == "*.example.com")
        #expect(try decided("b.a.example.com") == "**.a.example.com")
        #expect(try decided("c.b.example.com") == "**.example.com")
        #expect(try decided("other.com") == "**.com")
        #expect(try decided("other.org") == nil)
        #expect(try pins.pins(for: Self.host("a.example.com"))?.pins == [all[4]])
    }

    @Test func `an empty list of pins is refused, for it would pin nothing`() {
        var pins = PinSet()
        #expect(throws: PinSetError.noPins("example.com")) { try pins.add([], for: "example.com") }
    }

    @Test func `an exemption frees its hosts from a wider one`() throws {
        var pins = PinSet()
        try pins.add([Self.base64], for: "**.example.com", backup: .waived)
        try pins.exempt("open.example.com")
        #expect(try pins.pins(for: Self.host("open.example.com")) == nil)
        #expect(try pins.pins(for: Self.host("a.example.com")) != nil)
    }

    @Test func `a bad text in a set names itself and adds nothing`() throws {
        var pins = PinSet()
        #expect(throws: PinSetError.pin("AAAA", .length(octets: 3))) {
            try pins.add([Self.base64, "AAAA"], for: "example.com")
        }
        #expect(pins.isEmpty)
    }

    private static func host(_ text: String) throws -> Host {
        if let address = try? IPAddress(text) { return .address(address) }
        return .name(try HostName(text))
    }

    private static func colons(_ hex: String) -> String {
        stride(from: 0, to: hex.utf8.count, by: 2).map { start in
            String(hex.dropFirst(start).prefix(2))
        }.joined(separator: ":")
    }
}
