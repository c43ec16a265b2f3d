internal import HTTPDNSRedaction

/// The two bodies of one record, as they stream by.
struct BodyStreams {
    private var scanners: [CaptureRecord.Side: (BodyScanner, inline: [UInt8], kept: Int64)] = [:]
    private var numbers: [CaptureRecord.Side: Int64] = [:]
    private var isCoded: Set<CaptureRecord.Side> = []
    /// Names the pieces in the file; 0: there are none.
    private(set) var stream: Int64 = 0

    mutating func take(_ piece: CapturePiece, _ redactor: Redactor, _ file: CaptureFileSink?) {
        let names = redactor.names
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
        _ redactor: Redactor, _ file: CaptureFileSink?
    ) -> CaptureRecord.Body {
        let names = redactor.names
        var body = CaptureRecord.Body()
        guard !(form.isCoded && names != nil), !isCoded.contains(side) else {
            body.omission = .coded
            return body
        }
        if isWhole, scanners[side] == nil, rest.count <= CaptureRecord.Body.maximumInlineOctets,
            redactor.isPlain(rest, form)
        {
            body.octets = rest
            body.keptOctets = Int64(rest.count)
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
