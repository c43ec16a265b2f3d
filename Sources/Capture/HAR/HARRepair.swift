/// Makes JSON of a HAR file that is none because of single values which other programs write all the
/// same: half of a surrogate pair, as `JSON.stringify` writes of a text that was cut in a character,
/// octets that are no UTF-8, numbers beyond all numbers.
///
/// One such value would make a file of thousands of entries unreadable. Each is replaced, and named
/// by the entry it stands in. Whatever else is wrong stays wrong.
struct HARRepair {
    private(set) var octets: [UInt8] = []
    private(set) var faults: [HARSchema.Fault] = []
    private let mostFaults: Int
    private var depth = 0
    /// The array that is open at the depth of entries is that of entries.
    private var isInEntries = false
    private var entry = -1
    /// The last string at the depth of `entries`.
    private var name: ArraySlice<UInt8> = []
    private var isChanged = false

    /// Nil where there is nothing to replace.
    init?(_ given: [UInt8], mostFaults: Int) {
        self.mostFaults = mostFaults
        octets.reserveCapacity(given.count)
        var rest = given[...]
        while let octet = rest.first {
            switch octet {
            case 0x22: readString(&rest)
            case 0x2D, 0x30...0x39: readNumber(&rest)
            default:
                octets.append(octet)
                rest = rest.dropFirst()
                place(octet)
            }
        }
        guard isChanged else { return nil }
    }

    /// `{"log":{"entries":[{`: the fourth bracket begins an entry.
    private mutating func place(_ octet: UInt8) {
        switch octet {
        case 0x7B, 0x5B:
            depth += 1
            if depth == 3 { isInEntries = octet == 0x5B && name == Array("entries".utf8)[...] }
            if depth == 4, octet == 0x7B, isInEntries { entry += 1 }
        case 0x7D, 0x5D:
            depth -= 1
            if depth == 2 { isInEntries = false }
        default: break
        }
    }

    private mutating func readString(_ rest: inout ArraySlice<UInt8>) {
        let content = rest.dropFirst()
        var end = content.startIndex
        while end < content.endIndex, content[end] != 0x22 {
            end += content[end] == 0x5C ? 2 : 1
        }
        end = min(end, content.endIndex)
        let string = content[..<end]
        if depth == 2 { name = string }
        octets.append(0x22)
        octets += encoded(paired(string))
        rest = rest[end...]
        guard rest.first == 0x22 else { return }
        octets.append(0x22)
        rest = rest.dropFirst()
    }

    /// Without halves of surrogate pairs. Source: RFC 8259 §8.2.
    private mutating func paired(_ string: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard string.contains(0x5C) else { return string }
        var whole: [UInt8] = []
        var at = string.startIndex
        while at < string.endIndex {
            let length = min(string[at] == 0x5C ? 2 : 1, string.endIndex - at)
            guard let unit = HARRepair.unit(string[at...]) else {
                whole += string[at..<at + length]
                at += length
                continue
            }
            let next = HARRepair.unit(string[(at + 6)...])
            switch (unit, next) {
            case (0xD800...0xDBFF, (0xDC00...0xDFFF)?):
                whole += string[at..<at + 12]
                at += 12
            case (0xD800...0xDFFF, _):
                let written = String(decoding: string[at..<at + 6], as: UTF8.self)
                note("\(written) is half of a character; U+FFFD is read in its place")
                whole += Array("\\ufffd".utf8)
                at += 6
            default:
                whole += string[at..<at + 6]
                at += 6
            }
        }
        return whole[...]
    }

    /// The value of `\u` and four digits that octets begin with.
    private static func unit(_ octets: ArraySlice<UInt8>) -> Int? {
        let written = octets.prefix(6)
        guard written.count == 6, written.starts(with: [0x5C, 0x75]) else { return nil }
        var value = 0
        for octet in written.dropFirst(2) {
            switch octet {
            case 0x30...0x39: value = value << 4 | Int(octet - 0x30)
            case 0x41...0x46: value = value << 4 | Int(octet - 0x37)
            case 0x61...0x66: value = value << 4 | Int(octet - 0x57)
            default: return nil
            }
        }
        return value
    }

    private mutating func encoded(_ string: ArraySlice<UInt8>) -> [UInt8] {
        let isASCII = string.allSatisfy { $0 < 0x80 }
        guard !isASCII, String(validating: string, as: UTF8.self) == nil else {
            return Array(string)
        }
        note("octets that are no UTF-8; U+FFFD is read in their place")
        return Array(String(decoding: string, as: UTF8.self).utf8)
    }

    private mutating func readNumber(_ rest: inout ArraySlice<UInt8>) {
        let written = rest.prefix { octet in
            [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(octet) || (0x30...0x39).contains(octet)
        }
        rest = rest.dropFirst(written.count)
        let text = String(decoding: written, as: UTF8.self)
        guard let number = Double(text), number.isInfinite else {
            octets += written
            return
        }
        note("\(text.prefix(HARRepair.longestShown)) is beyond all numbers, and left out")
        octets += Array("null".utf8)
    }

    private mutating func note(_ what: String) {
        isChanged = true
        guard faults.count < mostFaults else { return }
        let place = entry >= 0 && isInEntries ? "log.entries[\(entry)]" : "log"
        faults.append(HARSchema.Fault(place: place, what: what))
    }

    /// Because: a number that somebody meant is shorter.
    private static let longestShown = 32
}
