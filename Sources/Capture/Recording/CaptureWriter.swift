internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSRedaction

/// What the capture's thread does: takes secrets out, then tells and writes. All of it is confined
/// to that thread.
struct CaptureWriter {
    private let configuration: CaptureConfiguration
    private let mailbox: ConditionLocked<CaptureMailbox>
    private let listeners: CaptureListeners
    private let ring: CaptureRing
    private let redactor: Redactor
    /// Bodies of which pieces have come.
    private var streams: [Int64: BodyStreams] = [:]
    private var file: CaptureFileSink?
    private var earlier = CaptureCounts()

    init(
        _ configuration: CaptureConfiguration, mailbox: ConditionLocked<CaptureMailbox>,
        listeners: CaptureListeners, ring: CaptureRing
    ) {
        self.configuration = configuration
        self.mailbox = mailbox
        self.listeners = listeners
        self.ring = ring
        redactor = Redactor(configuration.redaction)
        file = configuration.path.map {
            CaptureFileSink($0, configuration.limits, configuration.report ?? { _ in })
        }
    }

    /// Runs until the capture is let go.
    consuming func serve() {
        var writer = self
        let mailbox = writer.mailbox
        while true {
            let messages = mailbox.waitAndTake { box, now in
                box.take(now, gatherMilliseconds: CaptureWriter.gatherMilliseconds)
            } until: { box in
                box.wakeAt
            }
            guard writer.obey(messages) else { return }
        }
    }

    /// False after the last message.
    private mutating func obey(_ messages: [CaptureMessage]) -> Bool {
        var done: [@Sendable () -> Void] = []
        var goesOn = true
        var closes = false
        var ended: Int64 = 0
        for message in messages {
            switch message {
            case .began(let sent): listeners.tell(.began(told(sent.draft)))
            case .answered(let sent): listeners.tell(.answered(told(sent.draft)))
            case .piece(let piece): take(piece)
            case .ended(let sent):
                end(sent.draft)
                ended += 1
            case .abandoned(let id):
                if let stream = streams.removeValue(forKey: id)?.stream, stream != 0 {
                    file?.abandon(stream)
                }
            case .flush(let tell): done.append(tell)
            case .clear:
                ring.clear()
                file?.clear()
            case .close(let tell):
                done.append(tell)
                closes = true
            case .stop: goesOn = false
            }
        }
        let lost = file?.commit() ?? 0
        count(ended, lost: lost)
        if closes { file = nil }
        for tell in done { tell() }
        return goesOn
    }

    private mutating func count(_ ended: Int64, lost: Int64) {
        let earlier = earlier
        let (isWorse, counts) = mailbox.withLock(
            { box in
                box.counts.records += ended
                let isWorse = box.noticesFallingBehind(since: earlier)
                // What the file could not take was told by the file.
                box.counts.droppedRecords += lost
                return (isWorse, box.counts)
            }, signallingIf: { _ in false })
        file?.dropped =
            counts.droppedRecords - (file?.lost ?? 0)
        self.earlier = counts
        if isWorse { configuration.report?(.fellBehind(counts)) }
    }

    private func told(_ draft: CaptureDraft) -> CaptureRecord {
        var record = draft.record()
        redactor.redact(&record)
        return record
    }

    private mutating func take(_ piece: CapturePiece) {
        var body = streams[piece.id] ?? BodyStreams()
        body.take(piece, redactor.names, file)
        streams[piece.id] = body
    }

    private mutating func end(_ draft: CaptureDraft) {
        var record = draft.record()
        redactor.redact(&record)
        var bodies = streams.removeValue(forKey: draft.id) ?? BodyStreams()
        for side in CaptureRecord.Side.allCases {
            let keeper = draft[side]
            guard keeper.total > 0 else { continue }
            let form = draft.form(of: side)
            // What a failure broke off is cut, wherever that was.
            let isWhole = !keeper.isCut && draft[omission: side] == nil && !draft.hasFailed
            let body = bodies.finish(
                side, keeper.held, form, isWhole: isWhole, redactor.names, file)
            if side == .request {
                record.requestBody.take(body)
            } else {
                record.responseBody.take(body)
            }
        }
        file?.add(record, stream: bodies.stream)
        ring.add(record)
        listeners.tell(.ended(record))
        configuration.onRecord?(record)
    }

    /// How long records wait, so that one transaction takes many.
    ///
    /// Because: what is committed together costs little more than one alone; a listener notices no
    /// delay of a twentieth of a second.
    static let gatherMilliseconds: Int64 = 50
}

/// The two bodies of one record, as they stream by.
private struct BodyStreams {
    private var scanners: [CaptureRecord.Side: (BodyScanner, inline: [UInt8], kept: Int64)] = [:]
    private var numbers: [CaptureRecord.Side: Int64] = [:]
    private var isCoded: Set<CaptureRecord.Side> = []
    /// Names the pieces in the file; 0: there are none.
    private(set) var stream: Int64 = 0

    mutating func take(_ piece: CapturePiece, _ names: SecretNames?, _ file: CaptureFileSink?) {
        guard !piece.form.isCoded || names == nil else {
            isCoded.insert(piece.side)
            return
        }
        var (scanner, inline, kept) =
            scanners[piece.side] ?? (BodyScanner(piece.form, names), [], 0)
        let octets = scanner.take(piece.octets)
        keep(octets, piece.side, &inline, &kept, file)
        scanners[piece.side] = (scanner, inline, kept)
    }

    mutating func finish(
        _ side: CaptureRecord.Side, _ rest: [UInt8], _ form: BodyForm, isWhole: Bool,
        _ names: SecretNames?, _ file: CaptureFileSink?
    ) -> CaptureRecord.Body {
        var body = CaptureRecord.Body()
        guard !(form.isCoded && names != nil), !isCoded.contains(side) else {
            body.omission = .coded
            return body
        }
        var (scanner, inline, kept) = scanners[side] ?? (BodyScanner(form, names), [], 0)
        let octets = scanner.take(rest) + scanner.finish(isWhole: isWhole)
        if kept == 0, octets.count <= CaptureRecord.Body.maximumInlineOctets {
            inline = octets
            kept = Int64(octets.count)
        } else {
            keep(octets, side, &inline, &kept, file)
        }
        body.octets = inline
        body.keptOctets = kept
        return body
    }

    private mutating func keep(
        _ octets: [UInt8], _ side: CaptureRecord.Side, _ inline: inout [UInt8],
        _ kept: inout Int64, _ file: CaptureFileSink?
    ) {
        let room = CaptureRecord.Body.maximumInlineOctets - inline.count
        if room > 0 { inline += octets.prefix(room) }
        kept += Int64(octets.count)
        guard let file else { return }
        if stream == 0 { stream = file.newStream() }
        let number = numbers[side] ?? 0
        numbers[side] = number + 1
        file.add(octets, stream: stream, side, number: number)
    }
}

extension CaptureRecord.Body {
    fileprivate mutating func take(_ body: CaptureRecord.Body) {
        octets = body.octets
        keptOctets = body.keptOctets
        omission = omission ?? body.omission
    }
}
