/// The first message of a TLS client, as far as a filter reads it: the server name.
///
/// Source: RFC 8446 §4.1.2, §5.1; RFC 6066 §3. Every octet is checked against the end of its part.
package struct ClientHello: Sendable, Hashable {
    /// In lower case; nil: none was sent.
    package let serverName: String?

    /// What can be said after these octets.
    package enum Reading: Sendable, Hashable {
        /// More octets are needed.
        case unfinished
        case read(ClientHello)
        /// It is no ClientHello.
        case foreign
    }

    /// Reads the records at the start of a connection.
    package static func reading(_ octets: [UInt8]) -> Reading {
        var message: [UInt8] = []
        var rest = octets[...]
        while true {
            // A record: type 22, version, length, at most 2^14 octets.
            guard let type = rest.first else { return .unfinished }
            guard type == 22 else { return .foreign }
            guard rest.count >= 5 else { return .unfinished }
            let header = Array(rest.prefix(5))
            let length = Int(header[3]) << 8 | Int(header[4])
            guard length > 0, length <= 16_384 else { return .foreign }
            message += rest.dropFirst(5).prefix(length)
            if let reading = whole(message) { return reading }
            guard rest.count >= 5 + length, message.count < mostOctets else {
                return message.count < mostOctets ? .unfinished : .foreign
            }
            rest = rest.dropFirst(5 + length)
        }
    }

    /// Nil while the message is not whole.
    private static func whole(_ message: [UInt8]) -> Reading? {
        guard message.count >= 4 else { return nil }
        guard message[0] == 1 else { return .foreign }
        let length = Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3])
        guard length <= mostOctets else { return .foreign }
        guard message.count >= 4 + length else { return nil }
        var body = OctetReader(message[4..<(4 + length)])
        guard let hello = ClientHello(&body) else { return .foreign }
        return .read(hello)
    }

    private init?(_ body: inout OctetReader) {
        // Version and random; session, ciphers, compressions.
        guard body.take(34) != nil, body.counted(width: 1) != nil, body.counted(width: 2) != nil,
            body.counted(width: 1) != nil
        else { return nil }
        guard !body.isEmpty else {
            serverName = nil
            return
        }
        guard let list = body.counted(width: 2) else { return nil }
        var extensions = OctetReader(list)
        var found: String?
        while !extensions.isEmpty {
            guard let type = extensions.number(width: 2), let data = extensions.counted(width: 2)
            else { return nil }
            if type == 0 { found = ClientHello.name(data) }
        }
        serverName = found
    }

    private static func name(_ data: ArraySlice<UInt8>) -> String? {
        var reader = OctetReader(data)
        guard let list = reader.counted(width: 2) else { return nil }
        var names = OctetReader(list)
        while let type = names.number(width: 1), let octets = names.counted(width: 2) {
            // host_name
            if type == 0 { return String(decoding: octets, as: UTF8.self).lowercased() }
        }
        return nil
    }

    /// Because: the largest that clients send, with post-quantum keys and tickets, have some 10 KiB.
    private static let mostOctets = 65_536
}

/// Takes octets from the front, never past the end.
struct OctetReader {
    private var rest: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) { rest = octets }

    var isEmpty: Bool { rest.isEmpty }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// A number of so many octets, at most 3.
    mutating func number(width: Int) -> Int? {
        take(width)?.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The octets behind their count, which has so many octets.
    mutating func counted(width: Int) -> ArraySlice<UInt8>? {
        guard let count = number(width: width) else { return nil }
        return take(count)
    }
}
