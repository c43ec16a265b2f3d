/// Finds in libcurl's log that octets came behind the end of a response, in the same read.
///
/// Source: curl 7.88 to 8.15: "Excess found: excess = 5 url = / (zero-length body)", "Excess found in a
/// read", "Excess found writing body"; "Leftovers after chunking: 5 bytes". A word that it no longer
/// says leaves the connection kept: the octets themselves are gone, and those that follow them are seen
/// at the gate.
enum ExcessLog {
    static func tells(_ line: UnsafeRawBufferPointer) -> Bool {
        // Most lines are something else.
        switch line.first {
        case 0x45: line.starts(with: excess)
        case 0x4C: line.starts(with: leftovers)
        default: false
        }
    }

    private static let excess = Array("Excess found".utf8)
    private static let leftovers = Array("Leftovers after chunking".utf8)
}
