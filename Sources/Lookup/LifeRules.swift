public import HTTPDNSNames

/// How long answers are kept: what they say themselves, within limits.
///
/// The caps of ``AnswerLife`` hold whatever these rules say: 7 days, and 3 hours for a negative answer.
public struct LifeRules: Sendable, Hashable {
    /// Limits on the life of answers.
    public struct Clamp: Sendable, Hashable {
        /// Seconds a positive answer is kept at least; nil: what it says. An answer that says 0 is not
        /// kept all the same, and a negative one is not kept longer than it says.
        public var minimumSeconds: UInt32?
        /// Seconds any answer is kept at most; nil: what it says. Wins over the minimum.
        public var maximumSeconds: UInt32?

        /// Without a limit unless one is given.
        public init(minimumSeconds: UInt32? = nil, maximumSeconds: UInt32? = nil) {
            self.minimumSeconds = minimumSeconds
            self.maximumSeconds = maximumSeconds
        }
    }

    /// For every name that no suffix covers.
    public var all = Clamp()
    /// For names equal to a suffix or under it, in place of ``all``; the longest suffix counts.
    public var suffixes: [HostName: Clamp] = [:]

    public init() {}

    /// Seconds to keep an answer; 0: not at all.
    package func seconds(of testimony: Testimony) -> UInt32 {
        let life = AnswerLife(of: testimony)
        guard life.seconds > 0 else { return 0 }
        let clamp = clamp(for: testimony.question.name)
        var seconds = life.seconds
        if !life.isNegative { seconds = max(seconds, clamp.minimumSeconds ?? 0) }
        seconds = min(seconds, clamp.maximumSeconds ?? .max)
        return min(
            seconds,
            life.isNegative ? AnswerLife.maximumNegativeSeconds : AnswerLife.maximumSeconds)
    }

    private func clamp(for name: HostName) -> Clamp {
        guard !suffixes.isEmpty else { return all }
        return suffixes.filter { name.isSameOrUnder($0.key) }
            .max { $0.key.text.utf8.count < $1.key.text.utf8.count }?.value ?? all
    }
}
