import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSWire
import Testing

@Suite struct QueryOctetsTests {
    @Test func `the short way writes what the long way does`() throws {
        for length in [1, 2, 10, 40, 62, 63] {
            for labels in 1...3 {
                let label = String(repeating: "a", count: length)
                let name = try HostName(
                    Array(repeating: label, count: labels).joined(separator: "."))
                try compare(name)
            }
        }
        try compare(try HostName("xn--bcher-kva.example"))
        // Names whose padding is at the edge of a block.
        for length in 1...63 {
            try compare(try HostName(String(repeating: "b", count: length) + ".example.test"))
        }
        let longest = [63, 63, 63, 61].map { String(repeating: "c", count: $0) }
        try compare(try HostName(longest.joined(separator: ".")))
    }

    private func compare(_ name: HostName) throws {
        for type in [RecordType.a, .aaaa, .https, RecordType(rawValue: 65_280)] {
            for flags in 0..<4 {
                var question = Question(name: name, type: type)
                question.wantsDNSSEC = flags & 1 == 1
                question.wantsRecursion = flags & 2 == 2
                let long = try question.query(id: 0).encode(padTo: 128)
                #expect(try question.paddedQuery() == long)
                #expect(long.count.isMultiple(of: 128))
            }
        }
    }
}
