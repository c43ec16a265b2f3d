internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// What the capture's thread does: takes secrets out, then tells and writes. All of it is confined
/// to that thread.
struct CaptureWriter {
    private let configuration: CaptureConfiguration
    private let mailbox: ConditionLocked<CaptureMailbox>
    private let listeners: CaptureListeners
    private let ring: CaptureRing
    private let reader: DraftReader
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
        reader = DraftReader(Redactor(configuration.redaction))
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
            guard writer.obey(messages) else { return writer.listeners.finish() }
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
            case .began(let sent): listeners.tell(.began(reader.read(sent).record))
            case .answered(let sent): listeners.tell(.answered(reader.read(sent).record))
            case .piece(let piece): take(piece)
            case .ended(let sent):
                end(sent)
                ended += 1
            case .abandoned(let id):
                if let stream = streams.removeValue(forKey: id)?.stream, stream != 0 {
                    file?.abandon(stream)
                }
            case .flush(let tell): done.append(tell)
            case .clear:
                ring.clear(.fromThread)
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

    private mutating func take(_ piece: CapturePiece) {
        var body = streams[piece.id] ?? BodyStreams()
        body.take(piece, reader.redactor, file)
        streams[piece.id] = body
    }

    private mutating func end(_ sent: SentDraft) {
        let reading = reader.read(sent)
        var bodies = streams.removeValue(forKey: reading.record.id) ?? BodyStreams()
        let record = reader.whole(reading, &bodies, file)
        file?.add(record, stream: bodies.stream)
        ring.add(record)
        if listeners.isListenedTo { listeners.tell(.ended(record)) }
        configuration.onRecord?(record)
    }

    /// How long records wait, so that one transaction takes many.
    ///
    /// Because: what is committed together costs little more than one alone; a listener notices no
    /// delay of a twentieth of a second.
    static let gatherMilliseconds: Int64 = 50
}
