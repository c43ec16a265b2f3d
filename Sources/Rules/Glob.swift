/// A pattern with wildcards, read from left to right and anchored at both ends.
///
/// - `*`: any characters but `/`, also none.
/// - `**`: any characters, also none.
/// - `?`: one character but `/`.
///
/// Everything else stands for itself. All readings of the pattern are followed at once, as bits of a few
/// words: a character of a text costs as many steps as the pattern has words, whatever both are.
public struct Glob: Sendable, Hashable {
    public let pattern: String
    /// How many characters a text needs at least: the place of the reading that is at the end.
    private let places: Int
    /// How many words the readings of a text take: a bit a place, and one for the end.
    private let words: Int
    /// Of each class of characters, which places take one of it; class by class.
    private let takes: [UInt64]
    /// Places that stay where they are at any character, and at one that is no `/`.
    private let staysAtSlash: [UInt64]
    private let stays: [UInt64]
    /// The class of each ASCII character, and of others of the pattern; 0 is every other one.
    private let classes: [UInt16]
    private let others: [Unicode.Scalar: UInt16]

    /// Reads a pattern.
    ///
    /// - Throws: ``RuleFault`` for an empty pattern and one of more than ``maximumOctets``.
    public init(_ pattern: String) throws(RuleFault) {
        guard !pattern.isEmpty else { throw RuleFault("an empty pattern fits nothing") }
        guard pattern.utf8.count <= Glob.maximumOctets else {
            throw RuleFault(
                "a pattern of \(pattern.utf8.count) octets; at most \(Glob.maximumOctets) are read")
        }
        self.pattern = pattern
        let reading = Reading(pattern)
        places = reading.places.count
        words = places / 64 + 1
        classes = reading.classes
        others = reading.others
        var takes = [UInt64](repeating: 0, count: Int(reading.count) * words)
        var (staysAtSlash, stays) = ([UInt64](), [UInt64]())
        for place in reading.places.indices {
            let bit: UInt64 = 1 << UInt64(place % 64)
            for number in 0..<Int(reading.count) where reading.takes(place, number) {
                takes[number * words + place / 64] |= bit
            }
        }
        for word in 0..<words {
            staysAtSlash.append(Glob.bits(reading.anyRuns, word))
            stays.append(Glob.bits(reading.anyRuns.union(reading.runs), word))
        }
        (self.takes, self.staysAtSlash, self.stays) = (takes, staysAtSlash, stays)
    }

    /// Because: every character of a path is held against all of it at worst.
    public static let maximumOctets = 512

    private static func bits(_ places: Set<Int>, _ word: Int) -> UInt64 {
        places.reduce(0) { $1 / 64 == word ? $0 | 1 << UInt64($1 % 64) : $0 }
    }

    func matches(_ text: String) -> Bool {
        words == 1 ? matchesInOneWord(text) : matchesInWords(text)
    }

    private func number(of scalar: Unicode.Scalar) -> Int {
        scalar.value < 0x80
            ? Int(classes[Int(scalar.value)]) : others.isEmpty ? 0 : Int(others[scalar] ?? 0)
    }

    private func matchesInOneWord(_ text: String) -> Bool {
        let end: UInt64 = 1 << UInt64(places)
        var reached: UInt64 = 1
        for scalar in text.unicodeScalars {
            let number = number(of: scalar)
            let staying = number == Reading.slash ? staysAtSlash[0] : stays[0]
            reached = (reached & takes[number]) << 1 | reached & staying
            if reached == 0 { return false }
            // Whatever comes fits from here on.
            if reached & end & staysAtSlash[0] != 0 { return true }
        }
        return reached & end != 0
    }

    private func matchesInWords(_ text: String) -> Bool {
        let end: UInt64 = 1 << UInt64(places % 64)
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: words) { reached in
            reached.initialize(repeating: 0)
            reached[0] = 1
            for scalar in text.unicodeScalars {
                let number = number(of: scalar)
                let first = number * words
                let isSlash = number == Reading.slash
                var all: UInt64 = 0
                // From above: what is carried into a word is of the word below as it was.
                for word in stride(from: words - 1, through: 0, by: -1) {
                    let staying = isSlash ? staysAtSlash[word] : stays[word]
                    var next = (reached[word] & takes[first + word]) << 1 | reached[word] & staying
                    if word > 0 { next |= (reached[word - 1] & takes[first + word - 1]) >> 63 }
                    reached[word] = next
                    all |= next
                }
                if all == 0 { return false }
                if reached[words - 1] & end & staysAtSlash[words - 1] != 0 { return true }
            }
            return reached[words - 1] & end != 0
        }
    }

    /// A pattern, taken apart.
    private struct Reading {
        /// What each place takes; nil: any character but `/`.
        var places: [Unicode.Scalar?] = []
        /// Places before which any characters but `/` may stand, and those before which any may.
        var runs: Set<Int> = []
        var anyRuns: Set<Int> = []
        var classes = [UInt16](repeating: 0, count: 0x80)
        var others: [Unicode.Scalar: UInt16] = [:]
        /// Of classes.
        var count: UInt16 = 2

        /// The class of `/`, which wildcards do not take.
        ///
        /// Because: 0 is that of all characters that the pattern does not name.
        static let slash = 1

        init(_ pattern: String) {
            classes[0x2F] = UInt16(Reading.slash)
            for scalar in pattern.unicodeScalars {
                switch scalar {
                case "*" where runs.contains(places.count): anyRuns.insert(places.count)
                case "*": runs.insert(places.count)
                case "?": places.append(nil)
                default:
                    places.append(scalar)
                    classify(scalar)
                }
            }
        }

        private mutating func classify(_ scalar: Unicode.Scalar) {
            guard number(of: scalar) == 0 else { return }
            if scalar.value < 0x80 {
                classes[Int(scalar.value)] = count
            } else {
                others[scalar] = count
            }
            count += 1
        }

        private func number(of scalar: Unicode.Scalar) -> UInt16 {
            scalar.value < 0x80 ? classes[Int(scalar.value)] : others[scalar] ?? 0
        }

        func takes(_ place: Int, _ number: Int) -> Bool {
            places[place].map { Int(self.number(of: $0)) == number } ?? (number != Reading.slash)
        }
    }
}
