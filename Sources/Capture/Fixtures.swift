internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSPlatform
public import HTTPDNSRules
internal import HTTPDNSStore

extension FixtureLibrary {
    /// The exchanges of a file: a HAR, of whatever program, or a capture; which of the two it is, its
    /// first octets say.
    ///
    /// An exchange whose body was not kept whole is left out: it could not be told again. What a capture
    /// redacted stays redacted: a URL with something redacted in it fits every request whose URL is the
    /// same once its own secrets are taken out, and a body with something redacted in it fits every one
    /// to its URL.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - redaction: the rules that the capture was recorded under.
    /// - Throws: ``RuleFault``: the file cannot be read, is neither of the two, or holds nothing.
    public init(
        file path: String, redaction: CaptureRedaction = CaptureRedaction()
    ) throws(RuleFault) {
        let found =
            CaptureReader.isDatabase(path)
            ? try FixtureReading.capture(path) : try FixtureReading.har(path)
        guard !found.fixtures.isEmpty else {
            let left = found.leftOut.map { "; left out: " + $0.joined(separator: ", ") } ?? ""
            throw RuleFault(
                "\(FixtureReading.shown(path)) holds no exchange that can be replayed\(left)")
        }
        self.init(found, label: path, redaction)
    }

    /// The exchanges of records.
    ///
    /// - Parameters:
    ///   - records: what happened, in order.
    ///   - label: where they are from, in messages.
    ///   - redaction: the rules that they were recorded under.
    public init(
        _ records: [CaptureRecord], label: String, redaction: CaptureRedaction = CaptureRedaction()
    ) {
        var found = FixtureReading.Found()
        for record in records { found.add(record) }
        self.init(found, label: label, redaction)
    }

    private init(_ found: FixtureReading.Found, label: String, _ redaction: CaptureRedaction) {
        self.init(
            found.fixtures, label: label, leftOut: (found.leftOut ?? [], found.untold),
            recordedAs: { redaction.shown(url: $0) },
            isRedacted: { $0.contains(CaptureRedaction.placeholder) })
    }
}

extension FixtureRecorder {
    /// Records into a capture file, its secrets taken out; `httpdns capture har` makes a HAR of it.
    ///
    /// The file is written by a thread of its own: ``flush()`` and ``close()`` wait for it, and say what
    /// it could not write.
    ///
    /// - Parameters:
    ///   - path: made where it is missing; what it holds stays, however old it is.
    ///   - maximumBodyOctets: of a longer body nothing is kept, and the exchange is not told again.
    ///   - redaction: what is taken out.
    ///   - report: is told what goes wrong with the file, on that thread.
    public init(
        capture path: String, maximumBodyOctets: Int = FixtureRecorder.usualBodyOctets,
        redaction: CaptureRedaction = CaptureRedaction(),
        report: (@Sendable (CaptureTrouble) -> Void)? = nil
    ) {
        let losses = RecordingLosses()
        var configuration = CaptureConfiguration(path: path)
        configuration.limits = CaptureLimits(recordingBodies: maximumBodyOctets)
        configuration.redaction = redaction
        configuration.report = { trouble in
            losses.note(trouble)
            report?(trouble)
        }
        let capture = Capture(configuration)
        self.init(path, maximumBodyOctets: maximumBodyOctets) { fixture in
            capture.add(CaptureRecord(fixture))
        } leaveOut: { fixture, total in
            var record = CaptureRecord(fixture)
            record.responseBody.totalOctets = total
            record.responseBody.omission = .cut
            capture.add(record)
        } settle: { settling in
            switch settling {
            case .flush: await capture.flush()
            case .close: await capture.close()
            }
            return losses.fault(capture.counts, of: path)
        }
    }
}

extension CaptureLimits {
    /// Of a recording: nothing is too old to be told again.
    fileprivate init(recordingBodies maximumOctets: Int) {
        self.init()
        let most = min(max(maximumOctets, 0), FixtureRecorder.mostBodyOctets)
        maximumBodyOctets = Int64(most)
        maximumAge = nil
        // Because: several of the longest may end while one is written.
        maximumWaitingOctets = max(maximumWaitingOctets, most * 4)
    }
}

/// What a recording lost, told once.
private final class RecordingLosses: Sendable {
    private struct State {
        var last: CaptureTrouble?
        var told: Int64 = 0
    }

    private let state = Locked(State())

    func note(_ trouble: CaptureTrouble) { state.withLock { $0.last = trouble } }

    /// Nil where nothing was lost since this was last asked.
    func fault(_ counts: CaptureCounts, of path: String) -> RuleFault? {
        let lost = counts.droppedRecords + counts.droppedBodies
        let (news, last) = state.withLock { state in
            defer { state.told = lost }
            return (lost - state.told, state.last)
        }
        guard news > 0 else { return nil }
        let why = last.map { ": \($0)" } ?? ""
        return RuleFault(
            "\(news) exchange\(news == 1 ? "" : "s") could not be recorded into "
                + FixtureReading.shown(path) + why)
    }
}

extension CaptureRecord {
    /// A recorded exchange, as it is kept.
    init(_ fixture: Fixture) {
        let now = Capture.now
        var hop = Hop(method: fixture.method.text, url: fixture.url.description)
        hop.status = fixture.status
        // The body is decoded.
        hop.responseFields = fixture.stub.fields.fields.map { Field($0.name, $0.value) }
        self.init(.exchange, hop, startedAt: now, initiator: Initiator("rules"))
        requestBody = Body(fixture.requestBody ?? [])
        if fixture.requestBody == nil { requestBody.omission = .unseen }
        // What is kept for a replay has no times and no addresses.
        responseBody = Body(fixture.body)
    }
}

/// Makes fixtures of what was captured.
enum FixtureReading {
    /// What was read, and what was not.
    struct Found {
        private(set) var fixtures: [Fixture] = []
        /// What cannot be told again, one by one.
        private(set) var untold: [FixtureLibrary.Untold] = []
        private(set) var damaged = 0
        private var failed = 0
        private var cut = 0
        var formatFaults = 0
        var hasMore = false

        /// - Parameter isHAR: its texts are in UTF-8, whatever they came in.
        mutating func add(_ record: CaptureRecord, isHAR: Bool = false) {
            var made = 0
            for (place, hop) in record.hops.enumerated() {
                switch FixtureReading.reading(hop, at: place, of: record, isHAR: isHAR) {
                case .fixture(let fixture):
                    fixtures.append(fixture)
                    made += 1
                case .untold(let method, let url, let why):
                    untold.append(FixtureLibrary.Untold(method, url, because: why))
                case .unreadable: break
                }
            }
            guard made < record.hops.count else { return }
            if record.failure == nil, record.responseBody.omission != nil {
                cut += 1
            } else if made == 0 {
                failed += 1
            }
        }

        mutating func note(damaged count: Int) { damaged += count }

        /// Nil where all of it was read.
        var leftOut: [String]? {
            var parts: [String] = []
            if damaged > 0 { parts.append("\(damaged) damaged record\(damaged == 1 ? "" : "s")") }
            if cut > 0 { parts.append("\(cut) whose body was not kept whole") }
            if failed > 0 { parts.append("\(failed) without an answer of an HTTP server") }
            if hasMore { parts.append("all behind the first \(FixtureReading.mostRecords)") }
            if formatFaults > 0 {
                let most = formatFaults >= HARReader.mostFaults ? "or more " : ""
                parts.append(
                    "what breaks the format in \(formatFaults) \(most)place"
                        + (formatFaults == 1 ? "" : "s"))
            }
            return parts.isEmpty ? nil : parts
        }
    }

    static func har(_ path: String) throws(RuleFault) -> Found {
        do throws(HARFault) {
            let reader = try HARReader(file: path)
            var found = Found()
            for record in reader.records { found.add(record, isHAR: true) }
            found.formatFaults = reader.faults.count
            return found
        } catch { throw RuleFault("\(error)") }
    }

    static func capture(_ path: String) throws(RuleFault) -> Found {
        do throws(CaptureFileFault) {
            let file = try CaptureFile(path)
            var found = Found()
            var records: [CaptureRecord] = []
            let damaged = try file.read { record in
                found.hasMore = records.count == mostRecords
                if !found.hasMore { records.append(record) }
                return !found.hasMore
            }
            found.note(damaged: damaged)
            for record in records {
                do throws(CaptureFileFault) {
                    found.add(try whole(record, in: file))
                } catch {
                    guard error.code == .damaged else { throw error }
                    found.note(damaged: 1)
                }
            }
            return found
        } catch { throw RuleFault("\(error)") }
    }

    /// With all that was kept of its bodies.
    private static func whole(
        _ record: CaptureRecord, in file: CaptureFile
    ) throws(CaptureFileFault) -> CaptureRecord {
        var record = record
        guard record.responseBody.omission == nil else { return record }
        if record.responseBody.keptOctets > record.responseBody.octets.count {
            record.responseBody.octets = try file.body(of: record.id, .response)
        }
        if record.requestBody.keptOctets > record.requestBody.octets.count {
            record.requestBody.octets = try file.body(of: record.id, .request)
        }
        for side in [\CaptureRecord.responseBody, \.requestBody]
        where record[keyPath: side].keptOctets > record[keyPath: side].octets.count {
            record[keyPath: side].omission = .cut
        }
        return record
    }

    /// What a hop of a record is to who tells it again.
    enum Reading {
        case fixture(Fixture)
        /// It was asked so, and cannot be answered: why.
        case untold(HTTPMethod, HTTPURL, String)
        /// Not even what was asked can be read.
        case unreadable
    }

    static func reading(
        _ hop: CaptureRecord.Hop, at place: Int, of record: CaptureRecord, isHAR: Bool
    ) -> Reading {
        guard let method = HTTPMethod(hop.method), let url = try? HTTPURL(hop.url) else {
            return .unreadable
        }
        if let failure = record.failure {
            return .untold(method, url, "it failed when it was recorded (\(failure.label))")
        }
        guard let status = hop.status, (200...599).contains(status) else {
            return .untold(method, url, "no answer of an HTTP server was recorded")
        }
        let hasBody = place == record.hops.count - 1 && method != .head && status != 304
        if hasBody, let omission = record.responseBody.omission {
            return .untold(method, url, words(omission, record.responseBody))
        }
        var fields = HTTPFields()
        for field in hop.responseFields { try? fields.append(field.name, field.value) }
        let body = hasBody ? record.responseBody : CaptureRecord.Body()
        if hasBody, isHAR { FixtureText.describe(body, in: &fields) }
        return .fixture(
            Fixture(
                method, url, requestBody: place == 0 ? known(record.requestBody) : nil,
                status: status, fields: fields, body: body.octets))
    }

    private static func words(
        _ omission: CaptureRecord.Omission, _ body: CaptureRecord.Body
    ) -> String {
        switch omission {
        case .cut:
            "its body of \(body.totalOctets) octets was not kept whole; record it with a larger "
                + "maximumBodyOctets"
        case .off: "bodies were not kept when it was recorded (maximumBodyOctets was 0)"
        case .coded: "its body came coded, as the request had asked for, and was not kept"
        case .dropped: "its body was lost when it was recorded: the writer could not keep up"
        case .unseen: "its body of \(body.totalOctets) octets was not seen when it was recorded"
        }
    }

    /// Nil for a body that is not known as it was.
    private static func known(_ body: CaptureRecord.Body) -> [UInt8]? {
        guard body.omission == nil else { return nil }
        let text = String(decoding: body.octets, as: UTF8.self)
        return text.contains(redacted) ? nil : body.octets
    }

    static func shown(_ path: String) -> String {
        path.unicodeScalars.prefix(200).map { $0.escaped(asASCII: false) }.joined()
    }

    /// What a capture puts in the place of a secret.
    private static let redacted = CaptureRedaction.placeholder
    /// Because: fixtures are held in memory, and a capture holds as many by default.
    private static let mostRecords = 10_000
}
