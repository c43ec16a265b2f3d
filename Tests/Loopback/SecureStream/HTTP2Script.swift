/// An HTTP/2 server in frames: enough for POST requests, and for breaking every rule.
final class HTTP2Script: LinkScript {
    typealias Respond = (_ stream: UInt32, _ body: [UInt8], _ server: HTTP2Script) -> Void

    private let respond: Respond
    private let begin: (HTTP2Script) -> Void
    private(set) var link: Link?
    private var rest: [UInt8] = []
    private var preface = 24
    private var bodies: [UInt32: [UInt8]] = [:]
    /// The streams that the client has reset.
    private(set) var resets: [UInt32] = []
    private(set) var pingAnswers = 0
    var onFrame: ((_ type: UInt8, _ flags: UInt8, _ stream: UInt32) -> Void)?

    init(begin: @escaping (HTTP2Script) -> Void = { $0.settings([]) }, respond: @escaping Respond) {
        self.begin = begin
        self.respond = respond
    }

    func opened(_ link: Link) {
        self.link = link
        begin(self)
        // Room for a thousand queries and more; each stream has enough for one.
        frame(0x8, flags: 0, stream: 0, HTTP2Script.octets(UInt32(1 << 24)))
    }

    func received(_ octets: [UInt8], _ link: Link) {
        rest += octets
        if preface > 0 {
            guard rest.count >= preface else { return }
            rest.removeFirst(preface)
            preface = 0
        }
        while rest.count >= 9 {
            let count = Int(rest[0]) << 16 | Int(rest[1]) << 8 | Int(rest[2])
            guard rest.count >= 9 + count else { return }
            let stream =
                UInt32(rest[5] & 0x7F) << 24 | UInt32(rest[6]) << 16 | UInt32(rest[7]) << 8
                | UInt32(rest[8])
            let (type, flags) = (rest[3], rest[4])
            let payload = Array(rest[9..<(9 + count)])
            rest.removeFirst(9 + count)
            take(type, flags, stream, payload)
        }
    }

    private func take(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) {
        onFrame?(type, flags, stream)
        switch type {
        case 0x0: bodies[stream, default: []] += payload
        case 0x3: resets.append(stream)
        case 0x4 where flags & 1 == 0: frame(0x4, flags: 1, stream: 0, [])
        case 0x6 where flags & 1 != 0: pingAnswers += 1
        default: break
        }
        guard type <= 0x1, flags & 1 != 0 else { return }
        respond(stream, bodies.removeValue(forKey: stream) ?? [], self)
    }

    func frame(_ type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) {
        let count = payload.count
        link?.send(
            [
                UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type,
                flags,
                UInt8(stream >> 24 & 0x7F), UInt8(stream >> 16 & 0xFF), UInt8(stream >> 8 & 0xFF),
                UInt8(stream & 0xFF),
            ] + payload)
    }

    func settings(_ entries: [(id: UInt16, value: UInt32)]) {
        frame(
            0x4, flags: 0, stream: 0,
            entries.flatMap { HTTP2Script.octets($0.id) + HTTP2Script.octets($0.value) })
    }

    func goAway(after stream: UInt32, code: UInt32 = 0) {
        frame(0x7, flags: 0, stream: 0, HTTP2Script.octets(stream) + HTTP2Script.octets(code))
    }

    func reset(_ stream: UInt32, code: UInt32) {
        frame(0x3, flags: 0, stream: stream, HTTP2Script.octets(code))
    }

    /// A whole response; fields are sent without compression.
    func reply(
        _ stream: UInt32, _ body: [UInt8], status: String = "200",
        fields: [(String, String)] = [("content-type", "application/dns-message")]
    ) {
        // Source: RFC 7541 §6.2.2; 8 is :status in the static table.
        var head: [UInt8] = [0x08, UInt8(status.utf8.count)] + Array(status.utf8)
        for (name, value) in fields {
            head += [0, UInt8(name.utf8.count)] + Array(name.utf8)
            head += [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        frame(0x1, flags: 0x4, stream: stream, head)
        var rest = body[...]
        repeat {
            let part = rest.prefix(16_384)
            rest = rest.dropFirst(part.count)
            frame(0x0, flags: rest.isEmpty ? 1 : 0, stream: stream, Array(part))
        } while !rest.isEmpty
    }

    private static func octets(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

/// A DoT server in messages.
final class MessageScript: LinkScript {
    typealias Respond = (_ query: [UInt8], _ server: MessageScript) -> Void

    private let respond: Respond
    private(set) var link: Link?
    private var rest: [UInt8] = []
    /// How many came on this connection, this one included.
    private(set) var count = 0

    init(_ respond: @escaping Respond) { self.respond = respond }

    func opened(_ link: Link) { self.link = link }

    func received(_ octets: [UInt8], _ link: Link) {
        rest += octets
        while rest.count >= 2 {
            let length = Int(rest[0]) << 8 | Int(rest[1])
            guard rest.count >= 2 + length else { return }
            let query = Array(rest[2..<(2 + length)])
            rest.removeFirst(2 + length)
            count += 1
            respond(query, self)
        }
    }

    func reply(_ message: [UInt8]) {
        link?.send([UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message)
    }
}
