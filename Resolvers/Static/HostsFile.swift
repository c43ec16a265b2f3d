public import HTTPDNSNames

/// Text in the syntax of `/etc/hosts`: an address and its names on each line, `#` begins a comment.
///
/// Source: hosts(5). Lines end in LF, CR LF or CR; fields are set apart by spaces and tabs.
public struct HostsFile: Sendable, Hashable {
    /// One line that names something.
    public struct Entry: Sendable, Hashable {
        /// Counts from 1.
        public let line: Int
        public let address: IPAddress
        /// At least one: the canonical name, then its aliases.
        public let names: [HostName]
    }

    /// In the order of the text.
    public let entries: [Entry]

    /// Reads the text; the first bad line is an error.
    public static func parse(_ text: String) throws(HostsFileError) -> HostsFile {
        let reading = read(text)
        if let first = reading.faults.first { throw first }
        return reading.file
    }

    /// Reads what can be read, as the system does with its own file, and says which lines were not.
    ///
    /// A line with one bad name keeps its good ones.
    public static func parseTolerantly(
        _ text: String
    ) -> (file: HostsFile, faults: [HostsFileError]) {
        read(text)
    }

    /// The addresses of each name, in the order of the text, each once.
    public var table: [HostName: [IPAddress]] {
        var table: [HostName: [IPAddress]] = [:]
        for entry in entries {
            for name in entry.names where table[name]?.contains(entry.address) != true {
                table[name, default: []].append(entry.address)
            }
        }
        return table
    }

    private static func read(_ text: String) -> (file: HostsFile, faults: [HostsFileError]) {
        var entries: [Entry] = []
        var faults: [HostsFileError] = []
        for (index, line) in lines(text).enumerated() {
            let fields = line.prefix { $0 != "#" }
                .split(whereSeparator: { $0 == " " || $0 == "\t" }).map { String($0) }
            guard let first = fields.first else { continue }
            let number = index + 1
            let address: IPAddress
            do { address = try IPAddress(first) } catch {
                faults.append(HostsFileError(line: number, fault: .badAddress(first, error)))
                continue
            }
            var names: [HostName] = []
            for field in fields.dropFirst() {
                do { names.append(try HostName(field)) } catch {
                    faults.append(HostsFileError(line: number, fault: .badName(field, error)))
                }
            }
            if fields.count == 1 {
                faults.append(HostsFileError(line: number, fault: .noName(address)))
            }
            if !names.isEmpty {
                entries.append(Entry(line: number, address: address, names: names))
            }
        }
        return (HostsFile(entries: entries), faults)
    }

    /// By scalars: to Swift, CR LF is one character.
    private static func lines(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
    }
}

/// Why a line of a hosts file cannot be used.
public struct HostsFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with a line.
    public enum Fault: Sendable, Hashable {
        /// The first field is not an address.
        case badAddress(String, AddressError)
        case badName(String, NameError)
        /// The line holds an address alone.
        case noName(IPAddress)
    }

    /// Counts from 1.
    public let line: Int
    public let fault: Fault

    public var description: String {
        switch fault {
        case .badAddress(let text, let why): "line \(line): \"\(Self.shown(text))\": \(why)"
        case .badName(let text, let why): "line \(line): \"\(Self.shown(text))\": \(why)"
        case .noName(let address):
            "line \(line): \(address) has no name; write the names after the address"
        }
    }

    /// What a terminal may be shown of a file's text.
    private static func shown(_ text: String) -> String {
        // Because: longer than any name that could be meant, short enough for one line.
        let limit = 64
        var shown = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            shown +=
                scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F
                ? String(scalar) : "\\u{" + String(scalar.value, radix: 16) + "}"
        }
        return text.unicodeScalars.count > limit ? shown + "…" : shown
    }
}
