internal import HTTPDNSJSON
internal import HTTPDNSPlatform
public import HTTPDNSRules

/// Rules that are written in a file: JSON, as docs/rules.schema.json has it; see docs/rules.md.
///
/// Reading one opens no connection, and no file but itself and the ones that it names: recordings are
/// read, of the files of stubs only whether they can be, and of the files that are recorded into
/// whether they can be written.
public struct RuleFile: Sendable {
    /// What the file calls itself.
    public let name: String?
    public let rules: RequestRules

    /// How recordings are read and written; the application introduces who can.
    public struct Recordings: Sendable {
        /// Reads the exchanges of a file, by its path.
        public var read: @Sendable (String) throws(RuleFault) -> FixtureLibrary
        /// Makes what writes exchanges to a file.
        public var record: @Sendable (Recording) throws(RuleFault) -> FixtureRecorder

        /// Who reads and who writes them.
        public init(
            read: @escaping @Sendable (String) throws(RuleFault) -> FixtureLibrary,
            record: @escaping @Sendable (Recording) throws(RuleFault) -> FixtureRecorder
        ) {
            self.read = read
            self.record = record
        }

        /// Nobody.
        public static let none = Recordings(
            read: { (path) throws(RuleFault) in
                throw RuleFault(
                    "nobody here reads recordings; \(HostText.plain(path)) stays closed")
            },
            record: { (recording) throws(RuleFault) in
                throw RuleFault(
                    "nobody here writes recordings; \(HostText.plain(recording.path)) is not made")
            })
    }

    /// What a rule says of the file that it records into.
    public struct Recording: Sendable, Hashable {
        public let path: String
        /// Nothing can be answered from an exchange with a longer body.
        public let maximumBodyOctets: Int
    }

    /// Reads a file; paths in it are relative to its directory.
    ///
    /// - Throws: ``RuleFileFault``: where, what is wrong, and what was expected.
    public init(path: String, recordings: Recordings = .none) throws(RuleFileFault) {
        let octets: [UInt8]
        do throws(SmallFile.Fault) {
            octets = try SmallFile.whole(path, most: RuleFile.maximumOctets)
        } catch { throw RuleFileFault(file: path, "cannot be read: \(error)") }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        try self.init(
            octets, name: path, directory: directory, recordings: recordings, looksAtFiles: true)
    }

    /// Reads the text of a file. Files of stubs, and those that are recorded into, are not looked at.
    ///
    /// - Parameters:
    ///   - text: JSON in UTF-8.
    ///   - file: how it is called in errors.
    /// - Throws: ``RuleFileFault``.
    public init(
        text: String, file: String = "rules", recordings: Recordings = .none
    ) throws(RuleFileFault) {
        try self.init(
            Array(text.utf8), name: file, directory: "", recordings: recordings,
            looksAtFiles: false)
    }

    /// The same of what came from a stream: paths are relative to the working directory, and the files
    /// that they name are looked at.
    package init(
        stream text: String, name: String, recordings: Recordings
    ) throws(RuleFileFault) {
        try self.init(
            Array(text.utf8), name: name, directory: "", recordings: recordings,
            looksAtFiles: true)
    }

    private init(
        _ octets: [UInt8], name file: String, directory: String, recordings: Recordings,
        looksAtFiles: Bool
    ) throws(RuleFileFault) {
        let text = RuleText(octets: octets, name: file)
        guard octets.count <= RuleFile.maximumOctets else {
            throw RuleFileFault(
                file: file, "\(octets.count) octets; at most \(RuleFile.maximumOctets) are read")
        }
        let root: LocatedJSON
        do { root = try LocatedJSON.parse(octets, maximumOctets: RuleFile.maximumOctets) } catch {
            throw text.fault(at: error.offset ?? 0, "", error.what)
        }
        let reader = RuleReader(
            text: text,
            actions: ActionReader(
                directory: directory, recordings: recordings, looksAtFiles: looksAtFiles))
        (name, rules) = try reader.read(Node(root, path: "", text: text))
    }

    /// Because: a rule takes some hundred octets, and bodies belong into files of their own.
    public static let maximumOctets = 1_048_576
    /// Because: each request is held against all of them.
    public static let maximumRules = 1_000
}

/// Why a file of rules is refused: where, what is wrong, what was expected.
public struct RuleFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    public let file: String
    /// Counted from 1; nil for the file as a whole.
    public let line: Int?
    /// Counted from 1, in characters; nil for the file as a whole.
    public let column: Int?
    /// Where in the JSON: `rules[2].when.host`; empty for the file as a whole.
    public let path: String
    public let message: String

    init(
        file: String, line: Int? = nil, column: Int? = nil, path: String = "", _ message: String
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.path = path
        self.message = message
    }

    /// `rules.json:7:12: rules[2].when.host: …`
    public var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(HostText.plain(file))\(place): \(path.isEmpty ? "" : path + ": ")\(message)"
    }
}

/// The text that is being read, for faults that name their place.
struct RuleText: Sendable {
    let octets: [UInt8]
    let name: String

    func fault(at offset: Int, _ path: String, _ message: String) -> RuleFileFault {
        let (line, column) = LocatedJSON.position(of: offset, in: octets)
        return RuleFileFault(file: name, line: line, column: column, path: path, message)
    }
}
