/// Reads HTTP/1.1 requests from one connection, one after another. Source: RFC 9112 §2...§7.
struct RequestReader {
    private var buffer: [UInt8] = []
    private let stream: LabStream
    private let arrived: (Int) -> Void
    private let connection: Int
    private let serverName: String?
    private let isSecure: Bool

    /// `arrived` is called with the number of octets of each read.
    init(
        _ stream: LabStream, connection: Int, serverName: String?, isSecure: Bool,
        arrived: @escaping (Int) -> Void
    ) {
        self.stream = stream
        self.connection = connection
        self.serverName = serverName
        self.isSecure = isSecure
        self.arrived = arrived
    }

    enum Outcome {
        case request(LabRequest)
        /// What arrived is not HTTP/1.1.
        case malformed
        /// The peer or the server has ended.
        case ended
    }

    mutating func next() -> Outcome {
        var end = RequestReader.headEnd(buffer)
        while end == nil {
            guard buffer.count <= RequestReader.maximumHeadOctets else { return .malformed }
            guard fill() else { return .ended }
            end = RequestReader.headEnd(buffer)
        }
        guard let end, let head = RequestHead(buffer[..<end]) else { return .malformed }
        buffer.removeFirst(end + 4)
        if head.value(of: "expect")?.lowercased() == "100-continue" {
            guard stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return .ended }
        }
        switch body(head) {
        case .success(let body):
            return .request(
                LabRequest(
                    connection: connection, serverName: serverName, isSecure: isSecure,
                    method: head.method, target: head.target, fields: head.fields, body: body))
        case .failure(.malformed): return .malformed
        case .failure(.ended): return .ended
        }
    }

    private enum BodyFailure: Error {
        case malformed
        case ended
    }

    private mutating func body(_ head: RequestHead) -> Result<[UInt8], BodyFailure> {
        do throws(BodyFailure) {
            if head.value(of: "transfer-encoding") != nil { return .success(try chunks()) }
            guard let text = head.value(of: "content-length") else { return .success([]) }
            guard let count = Int(text), count >= 0 else { throw .malformed }
            return .success(try take(count))
        } catch { return .failure(error) }
    }

    private mutating func chunks() throws(BodyFailure) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = try takeLine().prefix { $0 != 0x3B && $0 != 0x20 }
            guard let count = Int(String(decoding: line, as: UTF8.self), radix: 16), count >= 0
            else { throw .malformed }
            if count == 0 { break }
            body += try take(count)
            guard try takeLine().isEmpty else { throw .malformed }
        }
        // Trailers end with an empty line.
        while try !takeLine().isEmpty {}
        return body
    }

    private mutating func take(_ count: Int) throws(BodyFailure) -> [UInt8] {
        while buffer.count < count { guard fill() else { throw .ended } }
        let taken = Array(buffer.prefix(count))
        buffer.removeFirst(count)
        return taken
    }

    private mutating func takeLine() throws(BodyFailure) -> [UInt8] {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                let line = Array(buffer[..<end])
                buffer.removeFirst(end + 1)
                return line.last == 0x0D ? line.dropLast() : line
            }
            guard buffer.count <= RequestReader.maximumHeadOctets else { throw .malformed }
            guard fill() else { throw .ended }
        }
    }

    private mutating func fill() -> Bool {
        guard let octets = stream.read() else { return false }
        arrived(octets.count)
        buffer += octets
        return true
    }

    /// The index of the empty line that ends a head.
    private static func headEnd(_ octets: [UInt8]) -> Int? {
        guard octets.count >= 4 else { return nil }
        var index = 3
        while index < octets.count {
            if octets[index] == 0x0A, octets[index - 1] == 0x0D, octets[index - 2] == 0x0A,
                octets[index - 3] == 0x0D
            {
                return index - 3
            }
            index += 1
        }
        return nil
    }

    /// Because: far more than any client of the tests sends, and still a bound.
    private static let maximumHeadOctets = 1 << 20
}

/// The request line and the fields.
private struct RequestHead {
    let method: String
    let target: String
    let fields: [LabField]

    init?(_ octets: ArraySlice<UInt8>) {
        var lines = String(decoding: octets, as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        guard let first = lines.popFirst() else { return nil }
        let words = first.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
        method = String(words[0])
        target = String(words[1])
        var fields: [LabField] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...]
            fields.append(LabField(String(line[..<colon]), RequestHead.trimmed(value)))
        }
        self.fields = fields
    }

    func value(of name: String) -> String? {
        fields.first { $0.name.lowercased() == name }?.value
    }

    private static func trimmed(_ text: Substring) -> String {
        var rest = text.drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return String(rest)
    }
}
