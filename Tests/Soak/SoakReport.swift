/// What a run came to.
struct SoakReport: Sendable {
    let options: SoakOptions
    let ledger: Ledger
    let course: UsageCourse
    let end: Usage
    /// Of the process of the servers, at the end.
    let laboratory: Usage?
    let milliseconds: Int64
    let machineLateMilliseconds: Int64
    let withoutProcessorMilliseconds: Int64

    var faults: [String] {
        let (shown, count) = ledger.faults
        var all = shown
        if count > shown.count { all.append("… and \(count - shown.count) more") }
        if ledger.told != ledger.begun {
            all.append("\(ledger.begun) began to wait, \(ledger.told) were told")
        }
        let rate = Int64(ledger.begun) * 1_000 / max(1, milliseconds)
        if rate * 100 < options.rate * 95 {
            all.append("only \(rate) lookups a second were begun")
        }
        return all + course.faults(growthPercent: options.growthPercent)
    }

    var text: String {
        let memory = course.medians(\.residentOctets)
        var lines = [
            "seed \(options.seed): \(ledger.begun) began to wait, \(ledger.told) were told, "
                + "in \(milliseconds / 1_000) s",
            "outcomes: " + SoakReport.list(ledger.outcomes),
            "notes: " + SoakReport.list(ledger.notes),
            "latency: " + ledger.latency.text,
            "later than its patience: \(ledger.lateness.count), by " + ledger.lateness.text
                + "; the machine itself by \(machineLateMilliseconds) ms at worst",
            "threads that could have run got no processor for "
                + "\(withoutProcessorMilliseconds / 1_000) s in all",
            "memory in use: \(Usage.mebibytes(memory.first)) MiB after the warm-up, "
                + "\(Usage.mebibytes(memory.last)) MiB at the end; resident at most "
                + "\(Usage.mebibytes(course.peakOctets)) MiB",
            "drained: \(end.mebibytes) MiB, \(Usage.mebibytes(end.heapOctets)) MiB of it allocated, "
                + "\(end.descriptors) fds, \(end.threads) threads",
            "memory of the servers' process: "
                + (laboratory.map { "\($0.mebibytes) MiB, \($0.threads) threads" } ?? "unknown"),
        ]
        let faults = faults
        lines.append(faults.isEmpty ? "PASSED" : "FAILED")
        return (lines + faults.map { "  \($0)" }).joined(separator: "\n")
    }

    var json: String {
        let memory = course.medians(\.residentOctets)
        let outcomes = ledger.outcomes.sorted { $0.key < $1.key }
            .map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        let faults = faults.map { "\"\(SoakReport.escaped($0))\"" }.joined(separator: ",")
        return """
            {"seed":\(options.seed),"rate":\(options.rate),"milliseconds":\(milliseconds),\
            "begun":\(ledger.begun),"told":\(ledger.told),\
            "p50_us":\(ledger.latency.microseconds(perMille: 500)),\
            "p99_us":\(ledger.latency.microseconds(perMille: 990)),\
            "latest_us":\(ledger.lateness.largestMicroseconds),\
            "machine_late_ms":\(machineLateMilliseconds),\
            "without_processor_ms":\(withoutProcessorMilliseconds),\
            "rss_first":\(memory.first),"rss_last":\(memory.last),\
            "rss_peak":\(course.peakOctets),"heap_drained":\(end.heapOctets),\
            "outcomes":{\(outcomes)},"faults":[\(faults)]}
            """
    }

    private static func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }

    private static func escaped(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar -> Character in
                scalar == "\"" || scalar == "\\" || scalar.value < 0x20 ? "'" : Character(scalar)
            })
    }
}
