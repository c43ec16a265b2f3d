import HTTPDNSExchange
import Testing

@Suite struct HTTPFieldsTests {
    @Test(arguments: [
        ("Authorization: Bearer s3cret", "Authorization:"), ("X Key s3cret", "X "),
        ("\u{e9}s3cret", "\u{e9}"), ("", ""), (String(repeating: "x", count: 5_000) + " ", nil),
    ])
    func `a name that cannot be sent is shown up to what is wrong with it`(
        name: String, shown: String?
    ) {
        var fields = HTTPFields()
        #expect {
            try fields.append(name, "v")
        } throws: { error in
            guard case FieldError.badName(let text) = error else { return false }
            let message = "\(error)"
            return text == shown ?? text && text.utf8.count <= 66 && !message.contains("s3cret")
                && message.utf8.count < 200
        }
        #expect(fields.fields.isEmpty)
    }

    @Test(arguments: ["a\r\nB: c", "a\nb", "a\0b", "a\u{7F}b", "\r"])
    func `a value that would start a new field is refused and not repeated`(value: String) {
        var fields = HTTPFields()
        #expect(throws: FieldError.badValue(name: "X")) { try fields.append("X", value) }
        #expect(throws: FieldError.badValue(name: "X")) { try fields.set("X", value) }
    }

    @Test(
        arguments: [
            ([0x61], "a", true), ([0xC3, 0xA9], "\u{e9}", true),
            ([0xE9, 0xFF], "\u{e9}\u{ff}", false),
            ([0xC3, 0xA9, 0xE9], "\u{c3}\u{a9}\u{e9}", false),
            ([0xED, 0xA0, 0x80], "\u{ed}\u{a0}\u{80}", false),
            ([], "", true),
        ] as [([UInt8], String, Bool)])
    func `a value keeps its octets, and is shown as text`(
        octets: [UInt8], text: String, isUTF8: Bool
    ) throws {
        let value = FieldText(octets: octets)
        #expect(value.text == text)
        #expect(value.wire == octets)
        #expect((value.octets == nil) == isUTF8)
        var fields = HTTPFields()
        try fields.append("X", value)
        #expect(fields.first("X") == text)
        #expect(fields.texts("x") == [value])
        #expect(fields.hasOctets == !isUTF8)
        try fields.set("X", "plain")
        #expect(!fields.hasOctets)
    }

    @Test(
        arguments: [
            ([0x61], [0x62]), ([0xC3, 0xA9], [0xE9]), ([0xE9], [0xC3, 0xA9]), ([0xE9], [0x61]),
            ([0xC3], [0xA9]),
        ] as [([UInt8], [UInt8])])
    func `a value that goes on in another line keeps the octets of both`(
        first: [UInt8], second: [UInt8]
    ) {
        var fields = HTTPFields()
        let isFirst = !fields.extendLast(by: "x")
        #expect(isFirst)
        fields.add(unchecked: "X", FieldText(octets: first))
        for more in [second, [0xFF]] {
            let hasGrown = fields.extendLast(by: FieldText(octets: [0x20] + more))
            #expect(hasGrown)
        }
        let whole = first + [0x20] + second + [0x20, 0xFF]
        #expect(fields.texts("X") == [FieldText(octets: whole)])
    }
}
