/// Follows the head of a part of `multipart/form-data`, wherever it stands: in a body whose type does
/// not say its boundary, in a log, in a string of JSON. Says where the part's content begins, and
/// where it ends: at the next line that begins with two dashes.
///
///     Content-Disposition: form-data; name="password"
///
///     SECRET
///     --boundary
///
/// Source: RFC 7578 §4.2.
struct PartPlace {
    enum Event: Sendable, Hashable {
        case nothing, begins, ends
    }

    private enum State: Sendable, Hashable {
        case outside
        case head
        case content
    }

    private var state = State.outside
    private var line: [UInt8] = []
    private var verdict = SecretNames.Verdict.clear
    /// The end of the last line of the content as it was written, and the dashes behind it.
    private(set) var tail: [UInt8] = []
    private var dashes = 0

    /// Whether an octet can mean something.
    var isBusy: Bool { state != .outside }

    /// `Content-Disposition:` has come.
    mutating func enter() {
        guard state != .content else { return }
        state = .head
        line = []
        verdict = .clear
    }

    /// Nothing of the part is left out.
    mutating func leave() { state = .outside }

    /// - Parameters:
    ///   - slashes: the backslashes before the octet.
    ///   - isString: the text is the content of a string, in which `\n` ends a line.
    mutating func take(
        _ octet: UInt8, _ raw: Written?, slashes: Int, isString: Bool, _ names: SecretNames
    ) -> Event {
        let isLetter = octet == 0x6E || octet == 0x72
        let isEscape = isString && isLetter && slashes % 2 == 1
        let meant: UInt8 = isEscape ? (octet == 0x6E ? 0x0A : 0x0D) : octet
        if state == .head { return head(meant, isEscape, names) }
        return content(meant, isEscape ? Written(octets: [0x5C, octet], depth: 0) : raw)
    }

    private mutating func head(
        _ octet: UInt8, _ isEscape: Bool, _ names: SecretNames
    ) -> Event {
        guard octet == 0x0A else {
            if octet != 0x0D { line.append(octet) }
            if isEscape, line.last == 0x5C { line.removeLast() }
            if line.count > PartPlace.longestLine { state = .outside }
            return .nothing
        }
        if isEscape, line.last == 0x5C { line.removeLast() }
        guard line.isEmpty else {
            verdict = max(verdict, PartPlace.verdict(ofHead: line, names))
            line = []
            return .nothing
        }
        state = verdict == .clear ? .outside : .content
        tail = []
        dashes = 0
        return verdict == .clear ? .nothing : .begins
    }

    /// Of the parameter `name`, in quotation marks or without.
    private static func verdict(
        ofHead line: [UInt8], _ names: SecretNames
    ) -> SecretNames.Verdict {
        for part in line.split(separator: 0x3B) {
            let pair = part.split(separator: 0x3D, maxSplits: 1)
            guard pair.count == 2, pair[0].filter({ $0 > 0x20 }) == Array("name".utf8)
            else { continue }
            return names.verdict(pair[1].filter { $0 > 0x20 && ![0x22, 0x27, 0x5C].contains($0) })
        }
        return .clear
    }

    private mutating func content(_ octet: UInt8, _ raw: Written?) -> Event {
        switch octet {
        case 0x0D, 0x0A:
            if octet == 0x0D || dashes > 0 || tail.count > 4 { tail = [] }
            tail += raw?.octets ?? [octet]
            dashes = 0
        // Of an escape of what follows.
        case 0x5C where dashes == 0: break
        case 0x2D where !tail.isEmpty:
            dashes += 1
            guard dashes == 2 else { break }
            state = .outside
            return .ends
        default:
            tail = []
            dashes = 0
        }
        return .nothing
    }

    /// Because: a line of such a head has a name of a field or a file in it.
    private static let longestLine = 1_024
}
