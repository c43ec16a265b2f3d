extension Sequence<UInt8> {
    /// Octets of whatever kind as ASCII that tells each from every other: `\xff`.
    package var escaped: String {
        reduce(into: "") { text, octet in
            if (0x20...0x7E).contains(octet), octet != 0x5C {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                text += "\\x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
            }
        }
    }
}

extension String {
    /// The text with everything escaped that moves a cursor, hides text or starts a line: a terminal
    /// obeys control characters whoever sent them.
    package var printable: String {
        guard unicodeScalars.contains(where: String.isUnsafe) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if String.isUnsafe(scalar) {
                text += "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: false
        case 0...0x9F: true
        default:
            switch scalar.properties.generalCategory {
            // Bidi overrides and zero-width characters are "format".
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
                true
            default: false
            }
        }
    }
}
