internal import HTTPDNSNames

extension Message {
    /// The wire form, owner names and the names of the oldest types compressed.
    ///
    /// The OPT record leads the additional section, so that a record that must be last (TSIG) stays
    /// last.
    ///
    /// - Throws: ``WireError`` when the message has no wire form: too long, or a record whose data
    ///   does not fit its type.
    public func encode() throws(WireError) -> [UInt8] {
        var writer = WireWriter()
        try appendHeader(to: &writer)
        // A lone question has nothing to share its name with.
        let shares = questions.count + answers.count + authorities.count + additionals.count > 1
        for question in questions {
            if shares {
                writer.append(shared: question.name)
            } else {
                writer.append(plain: question.name)
            }
            writer.append(question.type.rawValue)
            writer.append(question.recordClass)
            try Message.checkLength(writer)
        }
        for record in answers { try record.append(to: &writer) }
        for record in authorities { try record.append(to: &writer) }
        try edns?.append(to: &writer, codeBits: UInt8(code.rawValue >> 4 & 0xFF))
        for record in additionals { try record.append(to: &writer) }
        try Message.checkLength(writer)
        return writer.octets
    }

    /// The wire form, made a multiple of `block` octets long by the padding option.
    ///
    /// Does nothing to a message without EDNS, which cannot be padded. Source: RFC 7830, RFC 8467 §4.1
    /// (128 octets for queries, 468 for responses).
    public func encode(padTo block: Int) throws(WireError) -> [UInt8] {
        guard block > 0, var edns else { return try encode() }
        edns.options.removeAll { $0.code == EDNSOptionCode.padding }
        var padded = self
        padded.edns = edns
        // The option's own code and length take four octets. Source: RFC 6891 §6.1.2.
        let octets = try padded.encode().count + 4
        let pad = (block - octets % block) % block
        padded.edns?.options.append(.padding(octets: pad))
        return try padded.encode()
    }

    private func appendHeader(to writer: inout WireWriter) throws(WireError) {
        guard code.rawValue <= 0xF || edns != nil && code.rawValue <= 0xFFF else {
            throw WireError(.codeNeedsEDNS, atOctet: 2)
        }
        writer.append(id)
        writer.append(flags.word | code.rawValue & 0xF)
        let counts = [
            questions.count, answers.count, authorities.count,
            additionals.count + (edns == nil ? 0 : 1),
        ]
        for count in counts {
            guard let count = UInt16(exactly: count) else {
                throw WireError(.tooManyRecords, atOctet: writer.octets.count)
            }
            writer.append(count)
        }
    }

    fileprivate static func checkLength(_ writer: WireWriter) throws(WireError) {
        guard writer.octets.count <= maximumOctets else {
            throw WireError(.messageTooLong, atOctet: maximumOctets)
        }
    }
}

extension EDNS {
    fileprivate func append(to writer: inout WireWriter, codeBits: UInt8) throws(WireError) {
        writer.append(plain: .root)
        writer.append(RecordType.opt.rawValue)
        writer.append(udpPayloadOctets)
        writer.append(codeBits)
        writer.append(version)
        writer.append(isDNSSECOK ? 0x8000 as UInt16 : 0)
        try writer.sized { writer throws(WireError) in
            for option in options { try option.append(to: &writer) }
        }
    }
}

extension ResourceRecord {
    fileprivate func append(to writer: inout WireWriter) throws(WireError) {
        writer.append(shared: name)
        writer.append(type.rawValue)
        writer.append(recordClass)
        writer.append(ttlSeconds)
        try writer.sized { writer throws(WireError) in
            try data.append(to: &writer, type: type)
        }
        try Message.checkLength(writer)
    }
}

extension RecordData {
    fileprivate func append(to writer: inout WireWriter, type: RecordType) throws(WireError) {
        guard fits(type) else { throw WireError(.malformedRecord, atOctet: writer.octets.count) }
        switch self {
        case .address(let address): writer.append(contentsOf: address.octets)
        case .name(let name): writer.append(shared: name)
        case .soa(let soa): soa.append(to: &writer)
        case .mx(let preference, let exchange):
            writer.append(preference)
            writer.append(shared: exchange)
        case .txt(let strings):
            for string in strings { try writer.append(characterString: string) }
        case .srv(let priority, let weight, let port, let target):
            writer.append(priority)
            writer.append(weight)
            writer.append(port)
            // Source: RFC 2782 "Target": name compression is not to be used.
            writer.append(plain: target)
        case .caa(let flags, let tag, let value):
            writer.append(flags)
            try writer.append(characterString: tag)
            writer.append(contentsOf: value)
        case .service(let binding): try binding.append(to: &writer)
        case .opaque(let octets): writer.append(contentsOf: octets)
        }
    }

    /// True when a record of `type` can carry this. Opaque octets go with any type.
    private func fits(_ type: RecordType) -> Bool {
        switch (self, type) {
        case (.address(let address), .a): address.family == .ipv4
        case (.address(let address), .aaaa): address.family == .ipv6
        case (.name, .ns), (.name, .cname), (.name, .ptr), (.soa, .soa), (.mx, .mx), (.srv, .srv):
            true
        case (.txt(let strings), .txt): !strings.isEmpty
        case (.caa(_, let tag, _), .caa): !tag.isEmpty
        case (.service, .svcb), (.service, .https): true
        case (.opaque, _): type != .opt
        default: false
        }
    }
}

extension StartOfAuthority {
    fileprivate func append(to writer: inout WireWriter) {
        writer.append(shared: primary)
        writer.append(shared: mailbox)
        for number in [serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds] {
            writer.append(number)
        }
    }
}

extension ServiceBinding {
    fileprivate func append(to writer: inout WireWriter) throws(WireError) {
        writer.append(priority)
        // Source: RFC 9460 §2.2: the target is not compressed.
        writer.append(plain: target)
        for parameter in parameters {
            writer.append(parameter.key)
            try writer.sized { $0.append(contentsOf: parameter.value) }
        }
    }
}
