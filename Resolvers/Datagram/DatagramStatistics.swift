/// What an engine has seen since it was made; never reset, so that two readings can be subtracted.
public struct DatagramStatistics: Sendable, Hashable {
    /// Datagrams that left, repeats included.
    public var sent = 0
    /// Datagrams that were taken as replies to ours.
    public var replies = 0
    /// Ignored: another id than the one we sent on that port. Forgers guess like this.
    public var wrongID = 0
    /// Ignored: our id, another question.
    public var wrongQuestion = 0
    /// Ignored: no DNS message, or not a reply.
    public var notReplies = 0
    /// Ignored: on a port that waits for nothing any more: a repeat, or too late.
    public var unexpected = 0
    /// The network's own word: refused, unreachable.
    public var refusals = 0
    /// Replies that were cut, so that TCP was asked.
    public var truncated = 0
    /// Attempts over TCP.
    public var overTCP = 0
    /// Sockets opened for UDP, each on a port of the system's choice.
    public var socketsOpened = 0
    /// Second, different answers to one query. Only counted where evidence is wanted.
    public var contradictions = 0

    /// All that came and was not believed. What comes from another address or port than the one
    /// asked is not among it: the sockets are connected, so the system drops it unseen.
    public var ignored: Int { wrongID + wrongQuestion + notReplies + unexpected }
}
