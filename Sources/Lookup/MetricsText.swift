extension MetricsSnapshot {
    /// The media type of ``prometheusText``. Source: Prometheus, "Exposition formats".
    public static let prometheusMediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// Prometheus' text format, version 0.0.4; times in seconds. Source: Prometheus, "Exposition
    /// formats", text-based format.
    public var prometheusText: String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(MetricsSnapshot.escapedHelp(family.help))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples { text += family.lines(sample) }
        }
        return text
    }

    /// One JSON object: a member a metric, each an array of samples; times in seconds.
    ///
    ///     {"httpdns_lookups_total":[{"labels":{"outcome":"records"},"value":3}],
    ///      "httpdns_lookup_duration_seconds":
    ///       [{"labels":{},"buckets":[{"le":0.001,"count":1}],"sum":0.02,"count":2}]}
    public var jsonText: String {
        let members = families.map { family in
            let samples = family.samples.map(\.jsonText).joined(separator: ",")
            return MetricsSnapshot.quoted(family.name) + ":[" + samples + "]"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Milliseconds as seconds, exactly: `0.005`, `12`, `1.5`.
    fileprivate static func seconds(_ milliseconds: UInt64) -> String {
        let (whole, part) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        guard part > 0 else { return String(whole) }
        let digits = String(part)
        var text = String(repeating: "0", count: 3 - digits.count) + digits
        while text.last == "0" { text.removeLast() }
        return "\(whole).\(text)"
    }

    private static func escapedHelp(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\n": "\\n"
            default: String(scalar)
            }
        }.joined()
    }

    /// Backslash, quote and line feed; all else stands as it is.
    fileprivate static func escapedLabel(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(scalar)
            }
        }.joined()
    }

    /// A JSON string. Source: RFC 8259 §7; DEL and the C1 controls too, which move a cursor.
    fileprivate static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: quoted += "\\\""
            case 0x5C: quoted += "\\\\"
            case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension MetricsSnapshot.Family {
    fileprivate func lines(_ sample: MetricsSnapshot.Sample) -> String {
        switch sample.value {
        case .number(let number): return name + sample.prometheusLabels() + " \(number)\n"
        case .times(let times):
            var lines = ""
            for bucket in times.buckets {
                let bound = MetricsSnapshot.seconds(UInt64(clamping: bucket.upperMilliseconds))
                lines += "\(name)_bucket\(sample.prometheusLabels(le: bound)) \(bucket.count)\n"
            }
            lines += "\(name)_bucket\(sample.prometheusLabels(le: "+Inf")) \(times.count)\n"
            let sum = MetricsSnapshot.seconds(times.sumMilliseconds)
            lines += "\(name)_sum\(sample.prometheusLabels()) \(sum)\n"
            return lines + "\(name)_count\(sample.prometheusLabels()) \(times.count)\n"
        }
    }
}

extension MetricsSnapshot.Sample {
    fileprivate func prometheusLabels(le bound: String? = nil) -> String {
        var pairs = labels.map { "\($0.name)=\"\(MetricsSnapshot.escapedLabel($0.value))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        return pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}"
    }

    fileprivate var jsonText: String {
        let members = labels.map {
            MetricsSnapshot.quoted($0.name) + ":" + MetricsSnapshot.quoted($0.value)
        }
        let head = "{\"labels\":{" + members.joined(separator: ",") + "},"
        switch value {
        case .number(let number): return head + "\"value\":\(number)}"
        case .times(let times):
            let buckets = times.buckets.map { bucket in
                let bound = MetricsSnapshot.seconds(UInt64(clamping: bucket.upperMilliseconds))
                return "{\"le\":\(bound),\"count\":\(bucket.count)}"
            }
            return head + "\"buckets\":[" + buckets.joined(separator: ",") + "],\"sum\":"
                + MetricsSnapshot.seconds(times.sumMilliseconds) + ",\"count\":\(times.count)}"
        }
    }
}
