/// What is done to a file and its log: operation, two octets of a place, an octet.
package struct FileChanges: Sendable {
    private let octets: [UInt8]

    package init(_ octets: [UInt8]) { self.octets = octets }

    /// - 0: an octet of the file is replaced; 4: of the log.
    /// - 1: an octet near the head of a page; 2: a page is put in the place of another.
    /// - 3: the file is cut; 5: the log is cut; 6: the log goes, as if all of it were in the file.
    package func applied(to file: [UInt8], _ log: [UInt8]) -> (file: [UInt8], log: [UInt8]) {
        var (file, log) = (file, log)
        for start in stride(from: 0, to: octets.count - octets.count % 4, by: 4) {
            let (operation, value) = (octets[start] % 7, octets[start + 3])
            let place = Int(octets[start + 1]) << 8 | Int(octets[start + 2])
            switch operation {
            case 0: FileChanges.replace(&file, place, value)
            case 1: FileChanges.replace(&file, Int(octets[start + 1]) * 4_096 + place % 256, value)
            case 2: FileChanges.move(&file, Int(octets[start + 1]), Int(octets[start + 2]))
            case 3: file.removeLast(min(place, file.count))
            case 4: FileChanges.replace(&log, place * Int(max(1, value)), value)
            case 5: log.removeLast(min(place, log.count))
            default: log = []
            }
        }
        return (file, log)
    }

    private static func replace(_ octets: inout [UInt8], _ place: Int, _ value: UInt8) {
        guard !octets.isEmpty else { return }
        octets[place % octets.count] = value
    }

    private static func move(_ octets: inout [UInt8], _ from: Int, _ to: Int) {
        let pages = octets.count / 4_096
        guard pages > 0 else { return }
        let (from, to) = (from % pages * 4_096, to % pages * 4_096)
        octets.replaceSubrange(to..<to + 4_096, with: Array(octets[from..<from + 4_096]))
    }
}
