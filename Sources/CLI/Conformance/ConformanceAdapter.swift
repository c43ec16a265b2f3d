internal import HTTPDNSJSON

/// Answers the test vectors of other projects: one JSON request a line, one JSON answer a line.
///
/// An answer has the request's `id`. An operation that does not exist here gets `"skip"` and the
/// reason, a malformed request `"error"`; neither ends the conversation, whatever stands in the
/// line.
package enum ConformanceAdapter {
    /// Longer lines are read to their end and answered with an error. Because: the longest vector
    /// has less than one MiB, and a bound keeps memory bounded.
    package static let maximumLineOctets = 16_777_216

    typealias Operation =
        @Sendable (ConformanceRequest) throws(ConformanceRequest.Fault) -> JSONObject

    /// Answers until the input ends or the answers are no longer taken.
    ///
    /// - Parameters:
    ///   - read: the next piece of the input; empty at its end.
    ///   - write: takes an answer, its line end included; false when nobody listens any more.
    package static func run(reading read: () -> [UInt8], writing write: ([UInt8]) -> Bool) {
        var lines = LineCutter(maximumOctets: maximumLineOctets)
        while true {
            let piece = read()
            let cut = piece.isEmpty ? lines.finish() : lines.append(piece)
            for line in cut {
                guard let answer = answer(to: line) else { continue }
                guard write(answer + [0x0A]) else { return }
            }
            if piece.isEmpty { return }
        }
    }

    /// The answer to one line, without its line end; nil for an empty line.
    package static func answer(to line: LineCutter.Line) -> [UInt8]? {
        switch line {
        case .whole(let octets):
            guard octets.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else {
                return nil
            }
            return JSONWriter.octets(.object(answer(to: octets)))
        case .tooLong:
            let error = "a line longer than \(maximumLineOctets) octets"
            return JSONWriter.octets(["id": nil, "error": .string(error)])
        }
    }

    private static func answer(to octets: [UInt8]) -> JSONObject {
        let request: JSONValue
        do {
            request = try JSONValue.parse(octets, maximumOctets: maximumLineOctets)
        } catch {
            return ["id": nil, "error": .string("\(error)")]
        }
        guard let members = request.object else {
            return ["id": nil, "error": .string("\(request.kind), expected an object")]
        }
        var answer: JSONObject = ["id": members["id"] ?? .null]
        for member in body(ConformanceRequest(members: members)).members {
            answer[member.name] = member.value
        }
        return answer
    }

    private static func body(_ request: ConformanceRequest) -> JSONObject {
        do {
            let name = try request.text("op")
            guard let operation = operations[name] else {
                return skipped("there is no operation \"\(name)\" here")
            }
            return try operation(request)
        } catch {
            return ["error": .string(error.description)]
        }
    }

    private static let operations: [String: Operation] =
        [
            nameOperations, exchangeOperations, raceOperations, trustOperations, pinOperations,
            cacheOperations, harOperations,
        ].reduce(into: [:]) { $0.merge($1) { $1 } }

    static func skipped(_ reason: String) -> JSONObject { ["skip": .string(reason)] }

    static let refused: JSONObject = ["ok": false]
}

/// Cuts a stream of octets into lines; keeps at most one line.
package struct LineCutter {
    package enum Line: Sendable, Hashable {
        case whole([UInt8])
        /// Its octets were dropped.
        case tooLong
    }

    private let maximumOctets: Int
    private var rest: [UInt8] = []
    private var isDropping = false

    package init(maximumOctets: Int) { self.maximumOctets = maximumOctets }

    /// The lines that `piece` completes.
    package mutating func append(_ piece: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var parts = piece.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
        while let part = parts.popFirst() {
            keep(part)
            if !parts.isEmpty { lines.append(cut()) }
        }
        return lines
    }

    /// What stands after the last line end.
    package mutating func finish() -> [Line] {
        rest.isEmpty && !isDropping ? [] : [cut()]
    }

    private mutating func keep(_ part: ArraySlice<UInt8>) {
        guard !isDropping, rest.count + part.count <= maximumOctets else {
            isDropping = true
            rest = []
            return
        }
        rest += part
    }

    private mutating func cut() -> Line {
        defer {
            rest = []
            isDropping = false
        }
        return isDropping ? .tooLong : .whole(rest)
    }
}
