/// Bodies that prove what they are: which one, of which round, whole and in order.
package enum ProvenBody {
    /// Between nothing and some 150 KB, in blocks that each say where they belong.
    package static func octets(_ number: Int, round: Int) -> [UInt8] {
        let blocks = number % 5 == 0 ? 0 : number &* 37 % 150 + 1
        let filling = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1_000)
        var octets: [UInt8] = []
        for block in 0..<blocks { octets += Array("\(number) \(round) \(block)\n".utf8) + filling }
        return octets
    }

    /// The round of a whole body of that number; nil for anything else.
    package static func round(of octets: [UInt8], number: Int) -> Int? {
        guard !octets.isEmpty else { return self.octets(number, round: 0).isEmpty ? 0 : nil }
        let words = String(decoding: octets.prefix { $0 != 0x0A }, as: UTF8.self).split(
            separator: " ")
        guard words.count == 3, let round = Int(words[1]),
            octets == self.octets(number, round: round)
        else { return nil }
        return round
    }
}
