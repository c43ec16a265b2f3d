/// Bodies that prove what they are: which one, of which round, whole and in order.
package enum ProvenBody {
    /// Between nothing and some 300 KB.
    package static func octets(_ number: Int, round: Int) -> [UInt8] {
        let count = number % 5 == 0 ? 0 : number &* 7_919 % 300_000
        guard count > 0 else { return [] }
        return Array("\(number) \(round)\n".utf8)
            + (0..<count).map { UInt8(truncatingIfNeeded: $0 &* (round | 1) &+ number) }
    }

    /// The round of a whole body of that number; nil for anything else.
    package static func round(of octets: [UInt8], number: Int) -> Int? {
        guard !octets.isEmpty else { return self.octets(number, round: 0).isEmpty ? 0 : nil }
        let words = String(decoding: octets.prefix { $0 != 0x0A }, as: UTF8.self).split(
            separator: " ")
        guard words.count == 2, let round = Int(words[1]),
            octets == self.octets(number, round: round)
        else { return nil }
        return round
    }
}
