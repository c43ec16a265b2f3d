/// The sources of cached answers, each kept once: thousands of entries name the same few.
struct SourceTable: Sendable {
    private var numbers: [Testimony.Source: UInt32] = [:]
    private var kept: [(source: Testimony.Source, entries: Int)] = []
    private var free: [UInt32] = []
    /// Memory taken, about.
    private(set) var octets = 0

    /// What a number stands for that ``take(_:)`` gave out and that was not released since.
    subscript(number: UInt32) -> Testimony.Source { kept[Int(number)].source }

    /// The number of a source, for one entry more.
    mutating func take(_ source: Testimony.Source) -> UInt32 {
        if let number = numbers[source] {
            kept[Int(number)].entries += 1
            return number
        }
        octets += SourceTable.octets(source)
        let number: UInt32
        if let reused = free.popLast() {
            kept[Int(reused)] = (source, 1)
            number = reused
        } else {
            number = UInt32(kept.count)
            kept.append((source, 1))
        }
        numbers[source] = number
        return number
    }

    /// One entry less; with the last the source goes, too.
    mutating func release(_ number: UInt32) {
        kept[Int(number)].entries -= 1
        guard kept[Int(number)].entries == 0 else { return }
        let source = kept[Int(number)].source
        octets -= SourceTable.octets(source)
        numbers[source] = nil
        kept[Int(number)] = (SourceTable.nobody, 0)
        free.append(number)
    }

    /// Stands in a free place, so that it holds no texts.
    private static let nobody = Testimony.Source(resolver: "", transport: .cache)

    /// Because: the value stands in both tables, which are up to half empty.
    private static func octets(_ source: Testimony.Source) -> Int {
        MemoryLayout<Testimony.Source>.stride * 4 + source.resolver.utf8.count
            + (source.server?.utf8.count ?? 0)
    }
}
