internal import CHTTPDNSCoding

/// Undoes the content codings of one body, piece by piece, in constant memory.
///
/// Input is offered, output is pulled: after each ``read(into:)`` the caller may stop, and go on later
/// with the input that was not ``taken``. Not safe for use by two threads.
///
/// Rules:
/// 1. An end in the middle of a coding is a fault (``finish()``), whatever the length of the body was
///    said to be; a body of no octets at all is an empty one.
/// 2. gzip members and zstd frames may follow one another. Source: RFC 1952 §2.2, RFC 8878 §3.
/// 3. Behind the end only zero octets may stand, as some writers pad.
/// 4. `deflate` is read with and without zlib's wrapping. Source: RFC 9110 §8.4.1.2, its note.
package final class BodyDecoder {
    private let stages: [DecodingStage]
    /// Octets of the input offered last that were taken.
    package private(set) var taken = 0

    /// - Parameter codings: In the order in which they were applied.
    package init(_ codings: [ContentCoding]) throws(CodingFault) {
        for coding in codings where !ContentCoding.available.contains(coding) {
            throw .unavailable(coding)
        }
        stages = codings.reversed().map(DecodingStage.init)
    }

    /// What can be made of `input`, as much as fits into `output`; 0 when more input is needed. Call
    /// with the input that is left, empty if there is none, until it answers 0.
    package func read(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingFault) -> Int {
        taken = 0
        guard !stages.isEmpty else {
            let count = min(input.count, output.count)
            output.copyMemory(from: UnsafeRawBufferPointer(rebasing: input.prefix(count)))
            taken = count
            return count
        }
        return try pull(stages.count - 1, input, into: output)
    }

    /// Called when the body has ended.
    package func finish() throws(CodingFault) {
        for stage in stages where !stage.isWhole { throw .truncated(stage.coding) }
    }

    private func pull(
        _ index: Int, _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(CodingFault) -> Int {
        let stage = stages[index]
        while true {
            if index == 0 {
                let rest = UnsafeRawBufferPointer(rebasing: input[taken...])
                let step = try stage.step(rest, into: output)
                taken += step.taken
                if step.made > 0 || !step.isMoving { return step.made }
                continue
            }
            let step = try stage.stepFromStore(into: output)
            if step.made > 0 { return step.made }
            if step.isMoving { continue }
            let filled = try stage.refill { (room) throws(CodingFault) -> Int in
                try pull(index - 1, input, into: room)
            }
            if filled == 0 { return 0 }
        }
    }
}
