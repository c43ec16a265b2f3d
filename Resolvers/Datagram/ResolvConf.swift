public import HTTPDNSLookup
public import HTTPDNSNames

/// What a text in the syntax of `/etc/resolv.conf` says, read as the GNU C library reads it.
///
/// A keyword stands at the start of its line, a blank follows it. What cannot be read is skipped and
/// counted, never a failure. Source: resolv.conf(5), glibc's resolv/res_init.c. Two differences:
/// addresses in octal or with fewer than four parts are refused, since they mean different
/// things to different programs; the environment is not looked at.
public struct ResolvConf: Sendable, Hashable {
    /// In the order of the text, port 53, at most three; the server on this machine when the text
    /// names none.
    package(set) public var servers: [Endpoint]
    /// What `search` or `domain` says, whichever comes last. Empty when neither does: the machine's
    /// own domain is not guessed.
    public let search: [HostName]
    /// The option `ndots`, 0...15.
    public let ndots: Int
    /// The option `timeout`: how long the first try waits, 1...30.
    public let timeoutSeconds: Int
    /// The option `attempts`, 1...5.
    public let attempts: Int
    public let options: Set<Flag>
    /// The numbers, from 1, of lines that say something that cannot be used; they are skipped.
    public let skippedLines: [Int]

    /// An option without a value.
    public enum Flag: String, Sendable, Hashable, CaseIterable {
        /// Begin with another server for each question.
        case rotate
        /// Ask over TCP alone.
        case useTCP = "use-vc"
        /// EDNS, which we always use.
        case edns0
        /// The path to the servers is trusted: their AD bit may be believed.
        case trustAD = "trust-ad"
        /// Never ask for AAAA.
        case noAAAA = "no-aaaa"
    }

    public init(parsing text: String) {
        var reading = Reading()
        // CR is ours: files that came from elsewhere have it.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() { reading.read(line, number: index + 1) }
        if reading.servers.isEmpty, let local = IPAddress(octets: [127, 0, 0, 1]) {
            reading.servers = [Endpoint(address: local, port: .dns)]
        }
        servers = reading.servers
        search = reading.search
        ndots = reading.ndots
        timeoutSeconds = reading.timeoutSeconds
        attempts = reading.attempts
        options = reading.options
        skippedLines = reading.skipped
    }

    /// What the options say about short names; to be used only where it was asked for.
    public var searchList: SearchList { SearchList(suffixes: search, ndots: ndots) }

    /// Source: resolv.conf(5): MAXNS.
    static let maximumServers = 3
}

private struct Reading {
    var servers: [Endpoint] = []
    var search: [HostName] = []
    /// Source: resolv.conf(5), the defaults of these options.
    var ndots = 1
    var timeoutSeconds = 5
    var attempts = 2
    var options: Set<ResolvConf.Flag> = []
    var skipped: [Int] = []

    mutating func read(_ line: Substring, number: Int) {
        guard let first = line.first, first != "#", first != ";", first != " ", first != "\t"
        else { return }
        let fields = line.split { $0 == " " || $0 == "\t" }
        let values = fields.dropFirst()
        let isUsable =
            switch fields.first {
            case "nameserver": readServer(values)
            case "domain": readSearch(values.prefix(1))
            case "search": readSearch(values)
            case "options": readOptions(values)
            default: true
            }
        if !isUsable { skipped.append(number) }
    }

    private mutating func readServer(_ values: ArraySlice<Substring>) -> Bool {
        // What follows the address is ignored, as the C library does.
        guard let text = values.first, let address = try? IPAddress(String(text)) else {
            return false
        }
        let server = Endpoint(address: address, port: .dns)
        if servers.count < ResolvConf.maximumServers, !servers.contains(server) {
            servers.append(server)
        }
        return true
    }

    private mutating func readSearch(_ values: ArraySlice<Substring>) -> Bool {
        var names: [HostName] = []
        var isWhole = !values.isEmpty
        for value in values {
            let text = value.last == "." ? value.dropLast() : value
            // The root alone adds nothing to a name.
            if text.isEmpty { continue }
            if let name = try? HostName(String(text)) {
                names.append(name)
            } else {
                isWhole = false
            }
        }
        search = names
        return isWhole
    }

    private mutating func readOptions(_ values: ArraySlice<Substring>) -> Bool {
        var isWhole = true
        for value in values {
            if let flag = ResolvConf.Flag(rawValue: String(value)) {
                options.insert(flag)
                continue
            }
            let parts = value.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, ["ndots", "timeout", "attempts"].contains(parts[0]) else {
                continue  // an option for the C library alone
            }
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                isWhole = false
                continue
            }
            // More digits than a number holds mean the largest. Source of the bounds: resolv.conf(5).
            let number = Int(parts[1]) ?? .max
            switch parts[0] {
            case "ndots": ndots = min(number, 15)
            case "timeout": timeoutSeconds = min(max(number, 1), 30)
            default: attempts = min(max(number, 1), 5)
            }
        }
        return isWhole
    }
}
