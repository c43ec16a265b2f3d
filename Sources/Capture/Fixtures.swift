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
        let fixtures =
            CaptureReader.isDatabase(path)
            ? try FixtureReading.capture(path) : try FixtureReading.har(path)
        guard !fixtures.isEmpty else {
            throw RuleFault("\(FixtureReading.shown(path)) holds no exchange that can be replayed")
        }
        self.init(fixtures, label: path, redaction)
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
        self.init(records.flatMap { FixtureReading.fixtures($0) }, label: label, redaction)
    }

    private init(_ fixtures: [Fixture], label: String, _ redaction: CaptureRedaction) {
        self.init(
            fixtures, label: label, recordedAs: { redaction.shown(url: $0) },
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
    ///   - path: made where it is missing; what it holds stays.
    ///   - redaction: what is taken out.
    ///   - report: is told what goes wrong with the file, on that thread.
    public init(
        capture path: String, redaction: CaptureRedaction = CaptureRedaction(),
        report: (@Sendable (CaptureTrouble) -> Void)? = nil
    ) {
        let losses = RecordingLosses()
        var configuration = CaptureConfiguration(path: path)
        configuration.redaction = redaction
        configuration.report = { trouble in
            losses.note(trouble)
            report?(trouble)
        }
        let capture = Capture(configuration)
        self.init(path) { fixture in
            capture.add(CaptureRecord(fixture))
        } settle: { settling in
            switch settling {
            case .flush: await capture.flush()
            case .close: await capture.close()
            }
            return losses.fault(capture.counts, of: path)
        }
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
        responseBody = Body(fixture.body)
        totalMilliseconds = 0
    }
}

/// Makes fixtures of what was captured.
enum FixtureReading {
    static func har(_ path: String) throws(RuleFault) -> [Fixture] {
        do throws(HARFault) {
            return try HARReader(file: path).records.flatMap { fixtures($0) }
        } catch { throw RuleFault("\(error)") }
    }

    static func capture(_ path: String) throws(RuleFault) -> [Fixture] {
        do throws(CaptureFileFault) {
            let file = try CaptureFile(path)
            var records: [CaptureRecord] = []
            try file.read { record in
                records.append(record)
                return records.count < mostRecords
            }
            var all: [Fixture] = []
            for var record in records where record.responseBody.omission == nil {
                if record.responseBody.keptOctets > record.responseBody.octets.count {
                    record.responseBody.octets = try file.body(of: record.id, .response)
                }
                if record.requestBody.keptOctets > record.requestBody.octets.count {
                    record.requestBody.octets = try file.body(of: record.id, .request)
                }
                all += fixtures(record)
            }
            return all
        } catch { throw RuleFault("\(error)") }
    }

    /// One for each hop that was answered, in order.
    static func fixtures(_ record: CaptureRecord) -> [Fixture] {
        guard record.failure == nil else { return [] }
        let last = record.hops.count - 1
        return record.hops.enumerated().compactMap { place, hop in
            guard let status = hop.status, (200...599).contains(status),
                let method = HTTPMethod(hop.method), let url = try? HTTPURL(hop.url),
                place < last || record.responseBody.omission == nil
            else { return nil }
            var fields = HTTPFields()
            for field in hop.responseFields { try? fields.append(field.name, field.value) }
            return Fixture(
                method, url, requestBody: place == 0 ? known(record.requestBody) : nil,
                status: status, fields: fields,
                body: place == last ? record.responseBody.octets : [])
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
