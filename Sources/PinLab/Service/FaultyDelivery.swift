extension LabResponse {
    /// The answer with the faults of its way.
    func delivered(_ faults: Set<LabServiceFault>) -> LabResponse {
        var response = self
        if faults.contains(.answersEmptyAs(.nothing)) { response.body = [] }
        // What replaces an answer before what changes it, whatever order the set has.
        for fault in faults { response.replace(by: fault) }
        for fault in faults { response.damage(by: fault) }
        return response
    }

    private mutating func replace(by fault: LabServiceFault) {
        switch fault {
        case .answersOtherJSON: self = .json("{\"message\":\"hello\",\"items\":[1,2,3]}")
        case .captivePortal:
            self = .text(
                "<!DOCTYPE html><title>Log in</title><form action=/login></form>",
                type: "text/html")
        case .redirects(let location): self = .redirect(to: location)
        case .status(let status): self = LabResponse(status: status)
        case .statusRetry(let status, let seconds):
            self = LabResponse(
                status: status, fields: [LabField("Retry-After", String(seconds))])
        case .answersHuge(let octets):
            self = LabResponse(
                fields: [LabField("Content-Type", "application/json")],
                body: [UInt8](repeating: 0x20, count: max(0, octets)))
        case .neverAnswers: conduct = .neverAnswers
        case .closesUnanswered: conduct = .closesUnanswered
        default: break
        }
    }

    private mutating func damage(by fault: LabServiceFault) {
        switch fault {
        case .delays(let milliseconds): delayMilliseconds = milliseconds
        case .trickles(let milliseconds): conduct = .trickles(pauseMilliseconds: milliseconds)
        case .truncates: conduct = .closes(afterBodyOctets: body.count / 2)
        case .resetsAfterHead: conduct = .resets(afterBodyOctets: 0)
        case .gzips:
            body = Gzip.wrapped(body)
            fields.append(LabField("Content-Encoding", "gzip"))
        case .chunksWithTrailers:
            self = chunked(octets: 7)
            fields.append(LabField("Trailer", "X-Lab-Trailer"))
            trailers = [LabField("X-Lab-Trailer", "end")]
        case .ages(let seconds): fields.append(LabField("Age", String(seconds)))
        default: break
        }
    }
}
