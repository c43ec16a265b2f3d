/// What a soak is told on its command line.
struct SoakOptions: Sendable {
    var seconds: Int64 = 60
    var rate: Int64 = 1_000
    var seed: UInt64 = 1
    /// How much later than its patience a waiter may be told.
    ///
    /// Because: a quarter of a second is above what a busy machine delays a thread by, and below what
    /// a person would notice; a sanitizer needs more, which `scripts/soak` says.
    var latenessMilliseconds: Int64 = 250
    /// How much the resident memory may grow after the warm-up, unless by less than 8 MiB.
    var growthPercent: Int64 = 10
    var isJSON = false

    static let usage = """
        usage: Soak [--seconds N] [--rate N] [--seed N] [--lateness-milliseconds N]
                    [--growth-percent N] [--json]
        """

    /// Nil for words that are not understood.
    init?(_ words: [String]) {
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--json" {
                isJSON = true
                continue
            }
            guard let text = words.popFirst(), let number = Int64(text), number > 0 else {
                return nil
            }
            switch word {
            case "--seconds": seconds = number
            case "--rate": rate = number
            case "--seed": seed = UInt64(number)
            case "--lateness-milliseconds": latenessMilliseconds = number
            case "--growth-percent": growthPercent = number
            default: return nil
            }
        }
    }

    /// Caches, ranks and pools fill; a quarter of the run, a minute at most.
    var warmUpSeconds: Int64 { min(60, max(5, seconds / 4)) }
}

/// Numbers that look random and are the same for the same seed. Source: SplitMix64, Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True so many times in a hundred.
    mutating func isIn(_ percent: Int) -> Bool { below(100) < percent }
}
