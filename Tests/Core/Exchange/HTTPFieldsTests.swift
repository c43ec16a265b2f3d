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
}
