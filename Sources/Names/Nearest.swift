/// Finds what a mistyped word was meant to be.
package enum Nearest {
    /// The nearest of `words`, the first of equals; nil when none is near.
    package static func word(to typed: String, in words: [String]) -> String? {
        let target = Array(typed.lowercased().utf8)
        // Because: the distance costs a table of both lengths, and no word of ours is this long.
        guard (1...64).contains(target.count) else { return nil }
        let ranked = words.map { ($0, distance(target, Array($0.lowercased().utf8))) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        // Because: a third of the letters wrong is a slip; more is another word.
        return best.1 <= max(1, target.count / 3) ? best.0 : nil
    }

    /// Letters to insert, remove, replace, or swap with their neighbour, to come from one to other.
    private static func distance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for (row, letter) in from.enumerated() {
            var current = [row + 1]
            for (column, other) in to.enumerated() {
                var best = min(
                    last[column] + (letter == other ? 0 : 1), last[column + 1] + 1,
                    current[column] + 1)
                if row > 0, column > 0, letter == to[column - 1], from[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[to.count]
    }
}
