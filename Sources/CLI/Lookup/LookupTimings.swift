/// How long lookups took, of one name at one source. Pure.
package struct LookupTimings: Sendable, Hashable {
    /// Of those that were answered, negative answers included; in no order.
    private var times: [Double] = []
    package private(set) var rounds = 0

    package init() {}

    package var answered: Int { times.count }

    package mutating func add(_ report: LookupReport) {
        rounds += 1
        if report.status != nil { times.append(report.milliseconds) }
    }

    /// The time that the given share of lookups did not exceed: the nearest rank, so that each is one
    /// that was measured. Nil when nothing was answered.
    package func milliseconds(share: Double) -> Double? {
        guard !times.isEmpty else { return nil }
        let sorted = times.sorted()
        let rank = (share * Double(sorted.count)).rounded(.up)
        return sorted[min(max(Int(rank), 1), sorted.count) - 1]
    }

    /// The smallest, the median, the 95th of a hundred and the largest, for people.
    package var cells: [String] {
        [0, 0.5, 0.95, 1].map { share in
            milliseconds(share: share).map { DurationText.precise(milliseconds: $0) } ?? "-"
        }
    }
}
