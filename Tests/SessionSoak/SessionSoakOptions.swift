/// What a soak of sessions is told on its command line.
struct SessionSoakOptions: Sendable {
    var tasks = 20_000
    /// In flight at any time.
    var width = 200
    /// Resumed in one go, beside.
    var atOnce = 5_000
    /// Of one download and one upload, in MiB.
    var mebibytes = 1_024
    var seed: UInt64 = 1
    /// How much the resident memory may grow by while one large body passes.
    ///
    /// Because: the bound that issue and documentation promise.
    var growthMebibytes: Int64 = 60
    /// The tasks' own patience with a silent server.
    ///
    /// Because: a busy machine answers within it, and thousands of silent answers pass in a minute or
    /// two; a sanitizer needs more, which `scripts/soak` says.
    var timeoutSeconds = 10

    static let usage = """
        usage: SessionSoak [--tasks N] [--width N] [--at-once N] [--mebibytes N] [--seed N]
                           [--growth-mebibytes N] [--timeout-seconds N]
        """

    /// Nil for words that are not understood.
    init?(_ words: [String]) {
        var words = words[...]
        while let word = words.popFirst() {
            guard let text = words.popFirst(), let number = Int(text), number >= 0 else {
                return nil
            }
            switch word {
            case "--tasks": tasks = number
            case "--width" where number > 0: width = number
            case "--at-once": atOnce = number
            case "--mebibytes": mebibytes = number
            case "--seed": seed = UInt64(number)
            case "--timeout-seconds" where number > 0: timeoutSeconds = number
            case "--growth-mebibytes": growthMebibytes = Int64(number)
            default: return nil
            }
        }
    }
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
}
