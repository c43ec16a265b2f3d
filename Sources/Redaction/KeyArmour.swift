/// Follows a text to where a private key begins, in whatever form it is written in lines of base64,
/// and to where it ends.
///
///     -----BEGIN RSA PRIVATE KEY-----      begins behind its last dash
///     -----END RSA PRIVATE KEY-----        ends behind END
///
/// Source: RFC 7468 §2; RFC 9580 §6.2 for those of OpenPGP.
struct KeyArmour {
    enum Event: Sendable, Hashable {
        case nothing, begins, ends
    }

    private enum State: Sendable, Hashable {
        case outside
        /// Behind `-----BEGIN `.
        case label
        /// In a key.
        case inside
    }

    private var state = State.outside
    /// How much of the mark that is looked for the last octets are.
    private var matched = 0
    private var label: [UInt8] = []
    /// Dashes in a row.
    private var dashes = 0

    /// Whether an octet other than a dash can mean something.
    var isBusy: Bool { matched > 0 || state != .outside }

    mutating func take(_ octet: UInt8) -> Event {
        switch state {
        case .outside:
            if follows(KeyArmour.beginning, octet) {
                state = .label
                label = []
                dashes = 0
            }
        case .label: return read(octet)
        case .inside:
            guard octet == 0x2D || matched > 0, follows(KeyArmour.ending, octet) else { break }
            state = .outside
            return .ends
        }
        return .nothing
    }

    private mutating func read(_ octet: UInt8) -> Event {
        guard octet != 0x2D else {
            dashes += 1
            guard dashes == KeyArmour.mostDashes else { return .nothing }
            let isPrivate = String(decoding: label, as: UTF8.self).contains("PRIVATE KEY")
            state = isPrivate ? .inside : .outside
            matched = 0
            return isPrivate ? .begins : .nothing
        }
        let isOfLabel =
            octet == 0x20 || octet == 0x2B || (0x30...0x39).contains(octet)
            || (0x41...0x5A).contains(octet)
        guard isOfLabel, dashes == 0, label.count < KeyArmour.longestLabel else {
            state = .outside
            matched = 0
            return .nothing
        }
        // A form writes a space so.
        label.append(octet == 0x2B ? 0x20 : octet)
        return .nothing
    }

    /// True when the octet is the last one of the mark.
    private mutating func follows(_ mark: [UInt8], _ octet: UInt8) -> Bool {
        let isBlank = octet == 0x2B && mark[matched] == 0x20
        if octet == mark[matched] || isBlank {
            matched += 1
        } else if octet != 0x2D {
            matched = 0
        } else if matched != KeyArmour.mostDashes {
            // More dashes than it has are as good.
            matched = 1
        }
        guard matched == mark.count else { return false }
        matched = 0
        return true
    }

    private static let beginning = Array("-----BEGIN ".utf8)
    private static let ending = Array("-----END".utf8)
    /// Source: RFC 7468 §2.
    private static let mostDashes = 5
    /// Because: the longest label in use, that of OpenPGP's keys, has 24 letters.
    private static let longestLabel = 48
}
