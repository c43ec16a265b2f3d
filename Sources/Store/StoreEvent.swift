/// What happened to a store that its user may want to know. No lookup depends on it.
public enum StoreEvent: Sendable, Hashable, CustomStringConvertible {
    /// The file was damaged or no database; it was moved to `newPath` and a new one begun.
    case setAside(path: String, newPath: String, because: String)
    /// The file was made by another program, or by a newer version of this library: it is left as
    /// it is, and nothing is kept.
    case foreign(path: String, because: String)
    /// The file cannot be used now (no room, no right, locked): nothing is found or kept for a
    /// while, then it is tried again. Told once until it works again.
    case quiet(path: String, because: String)
    /// It works again.
    case recovered(path: String)

    /// A bounded label, safe in metrics and JSON.
    public var label: String {
        switch self {
        case .setAside: "set_aside"
        case .foreign: "foreign"
        case .quiet: "quiet"
        case .recovered: "recovered"
        }
    }

    public var description: String { text(of: "answer store") }

    /// The event in words, of a store of that kind.
    package func text(of kind: String) -> String {
        switch self {
        case .setAside(let path, let newPath, let why):
            "the \(kind) \(path) was damaged (\(why)); it is now \(newPath), and a new one "
                + "was begun"
        case .foreign(let path, let why):
            "the \(kind) \(path) is not used: \(why); name another file, or remove it"
        case .quiet(let path, let why):
            "the \(kind) \(path) cannot be used for now: \(why)"
        case .recovered(let path): "the \(kind) \(path) works again"
        }
    }
}

/// How much a store may hold.
public struct StoreLimits: Sendable, Hashable {
    /// Answers; at least 1.
    public var maximumAnswers = 10_000
    /// Octets of keys and answers together, the database's own needs not counted; at least 4,096.
    public var maximumOctets = 8 << 20

    public init() {}

    public init(maximumAnswers: Int, maximumOctets: Int) {
        self.maximumAnswers = maximumAnswers
        self.maximumOctets = maximumOctets
    }
}

/// What a store holds.
public struct StoreContents: Sendable, Hashable {
    /// How many, whether their life is over or not.
    public let answers: Int
    /// As ``StoreLimits/maximumOctets`` counts.
    public let octets: Int

    package init(answers: Int, octets: Int) {
        self.answers = answers
        self.octets = octets
    }
}
