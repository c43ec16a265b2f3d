internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// Keys and values of the store as octets.
///
/// A key names everything that makes one question another: two questions have one key only when they
/// are equal. A value is the answer as a DNS message, then what a message cannot say.
/// What is read back is checked as if a stranger had sent it.
enum StoredForm {
    /// Nil for a scope or a question too long to be kept.
    static func key(_ question: Question, scope: String) -> [UInt8]? {
        var writer = WireWriter()
        writer.append(flags(question))
        writer.append(question.type.rawValue)
        do throws(WireError) {
            try append(question.name.text, to: &writer)
            try append(scope, to: &writer)
            if let block = question.clientSubnet {
                writer.append(block.address.family == .ipv4 ? 4 as UInt8 : 6)
                writer.append(UInt8(clamping: block.prefixBits))
                writer.append(contentsOf: block.address.octets)
            } else {
                writer.append(0 as UInt8)
            }
            for entry in question.serviceParameters.entries {
                try append(entry.key, to: &writer)
                try append(entry.value, to: &writer)
            }
        } catch {
            return nil
        }
        return writer.octets.count <= maximumKeyOctets ? writer.octets : nil
    }

    /// Nil when the answer has no form from which it would come back equal.
    static func value(_ testimony: Testimony) -> [UInt8]? {
        var message = Message(id: 0, code: testimony.code)
        message.flags.isResponse = true
        message.flags.isAuthenticData = testimony.isAuthenticData
        message.answers = testimony.answers
        // Codes above 15 need it. Source: RFC 6891 §6.1.3.
        if testimony.code.rawValue > 0xF || !testimony.extendedErrors.isEmpty {
            message.edns = EDNS(
                options: testimony.extendedErrors.map {
                    .extendedError(code: $0.code, text: $0.text)
                })
        }
        var writer = WireWriter()
        do throws(WireError) {
            let octets = try message.encode()
            writer.append(UInt32(clamping: octets.count))
            writer.append(contentsOf: octets)
            try append(testimony.source, to: &writer)
        } catch {
            return nil
        }
        if let seconds = testimony.negativeTTLSeconds {
            writer.append(1 as UInt8)
            writer.append(seconds)
        } else {
            writer.append(0 as UInt8)
        }
        do throws(WireError) {
            if let extra = testimony.source.extra { try append(extra, to: &writer) }
        } catch {
            return nil
        }
        // A record that the wire changes (a TTL with its top bit, say) must not come back as another.
        var kept = testimony
        kept.excessiveTTLSeconds = nil
        guard read(writer.octets, for: testimony.question) == kept else { return nil }
        return writer.octets
    }

    /// The answer to `question` that a value holds; nil when the octets are not a value.
    static func read(_ octets: [UInt8], for question: Question) -> Testimony? {
        var reader = WireReader(octets)
        do throws(WireError) {
            let count = Int(try reader.uint32())
            let message = try Message(decoding: Array(try reader.take(count)))
            guard var source = try readSource(&reader) else { return nil }
            let negative = try readOptional(&reader) { reader throws(WireError) in
                try reader.uint32()
            }
            // At the end, and only where there is one: so values without one are as they always were.
            if reader.remaining > 0 {
                guard let extra = try text(&reader) else { return nil }
                source.extra = extra
            }
            guard reader.remaining == 0, message.flags.isResponse else { return nil }
            var testimony = Testimony(
                question: question, code: message.code, answers: message.answers,
                negativeTTLSeconds: negative, isAuthenticData: message.flags.isAuthenticData,
                source: source)
            testimony.extendedErrors =
                message.edns?.extendedErrors.map { ExtendedError(code: $0.code, text: $0.text) }
                ?? []
            return testimony
        } catch {
            return nil
        }
    }

    /// FNV-1a, 64 bits: any one octet that changed changes it. Against accidents, not against a writer.
    /// Source: FNV-1a of Fowler, Noll and Vo.
    static func checksum(_ parts: [UInt8]...) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for part in parts {
            for octet in part { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
            // The bounds of the parts count too.
            hash = (hash ^ UInt64(part.count)) &* 0x0000_0100_0000_01B3
        }
        return Int64(bitPattern: hash)
    }

    /// Because: a name has 253 octets, parameters 1,000; the rest is for the scope.
    static let maximumKeyOctets = 4_096
}

extension StoredForm {
    private static func flags(_ question: Question) -> UInt8 {
        (question.wantsDNSSEC ? 1 : 0) | (question.wantsRecursion ? 2 : 0)
    }

    private static func append(
        _ text: String, to writer: inout WireWriter
    ) throws(WireError) {
        try writer.sized { $0.append(contentsOf: text.utf8) }
    }

    private static func text(_ reader: inout WireReader) throws(WireError) -> String? {
        let octets = try reader.take(Int(try reader.uint16()))
        let text = String(decoding: octets, as: UTF8.self)
        return text.utf8.elementsEqual(octets) ? text : nil
    }

    private static func append(
        _ source: Testimony.Source, to writer: inout WireWriter
    ) throws(WireError) {
        try append(source.resolver, to: &writer)
        try append(source.transport.rawValue, to: &writer)
        writer.append(source.server == nil ? 0 as UInt8 : 1)
        if let server = source.server { try append(server, to: &writer) }
        writer.append(source.clientAddress == nil ? 0 as UInt8 : 1)
        if let address = source.clientAddress { try append(address.description, to: &writer) }
        writer.append(UInt32(clamping: source.tries))
    }

    private static func readSource(
        _ reader: inout WireReader
    ) throws(WireError) -> Testimony.Source? {
        guard let resolver = try text(&reader), let word = try text(&reader),
            let transport = AnswerTransport(rawValue: word)
        else { return nil }
        let server = try readOptional(&reader) { reader throws(WireError) in try text(&reader) }
        let client = try readOptional(&reader) { reader throws(WireError) in try text(&reader) }
        let tries = try reader.uint32()
        return Testimony.Source(
            resolver: resolver, transport: transport, server: server ?? nil,
            clientAddress: (client ?? nil).flatMap { try? IPAddress($0) },
            tries: Int(tries))
    }

    private static func readOptional<Value>(
        _ reader: inout WireReader, _ read: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> Value? {
        let start = reader.position
        switch try reader.octet() {
        case 0: return nil
        case 1: return try read(&reader)
        default: throw WireError(.malformedRecord, atOctet: start)
        }
    }
}
