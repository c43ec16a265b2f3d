internal import HTTPDNSNames
package import HTTPDNSWire

extension Question {
    /// The message that asks this.
    ///
    /// `id` is 0 over HTTPS (RFC 8484 §4.1), random over UDP and TCP; without `edns` there is no OPT
    /// record, unless the DO bit needs one.
    package func query(id: UInt16, edns: EDNS? = EDNS()) -> Message {
        var edns = edns
        if wantsDNSSEC {
            edns = edns ?? EDNS()
            edns?.isDNSSECOK = true
        }
        if let clientSubnet {
            edns = edns ?? EDNS()
            edns?.options.append(.clientSubnet(clientSubnet.ednsOctets))
        }
        return .query(
            id: id, name: WireName(name), type: type,
            options: QueryOptions(wantsRecursion: wantsRecursion, edns: edns))
    }
}

extension AddressBlock {
    /// The option's content: family, source prefix length, scope 0, and no more octets of the address
    /// than the prefix needs. Source: RFC 7871 §6.
    fileprivate var ednsOctets: [UInt8] {
        [0, address.family == .ipv4 ? 1 : 2, UInt8(clamping: prefixBits), 0]
            + address.octets.prefix((prefixBits + 7) / 8)
    }
}

/// Reads a reply's octets as an answer to `question`.
///
/// - Throws: ``QueryFailure/malformed(_:)``, saying what was wrong and at which octet.
package func testimony(
    fromWire octets: [UInt8], for question: Question, source: Testimony.Source
) throws(QueryFailure) -> Testimony {
    let message: Message
    do throws(WireError) { message = try Message(decoding: octets) } catch {
        throw .malformed("\(error)")
    }
    var testimony = try testimony(from: message, for: question, source: source)
    // Such a TTL has become 0: only then is there something to look for.
    if message.answers.contains(where: { $0.ttlSeconds == 0 }) {
        testimony.excessiveTTLSeconds = excessiveTTLSeconds(octets)
    }
    return testimony
}

/// The first TTL of the answer section that is out of range. Source: RFC 2181 §8.
private func excessiveTTLSeconds(_ octets: [UInt8]) -> UInt32? {
    var reader = WireReader(octets)
    do throws(WireError) {
        let header = try MessageHeader(reading: &reader)
        for _ in 0..<header.questions { _ = try Message.Question(reading: &reader) }
        for _ in 0..<header.answers {
            let head = try RecordHead(reading: &reader)
            if head.ttl != head.ttlSeconds { return head.ttl }
            _ = try reader.take(head.dataOctets)
        }
    } catch {
        // It was read before, so this cannot be; and it is for a note alone.
        return nil
    }
    return nil
}

/// Reads a message as an answer to `question`: it must be a response and repeat the question.
///
/// The caller has matched the ID and seen to the TC bit. Answers are kept in the order received.
///
/// - Throws: ``QueryFailure/malformed(_:)`` when the message answers something else.
package func testimony(
    from message: Message, for question: Question, source: Testimony.Source
) throws(QueryFailure) -> Testimony {
    guard message.flags.isResponse else {
        throw .malformed("a query came back, not a response (the QR bit is clear)")
    }
    guard message.flags.opcode == 0 else {
        throw .malformed("it answers an operation of kind \(message.flags.opcode), not a query")
    }
    try checkEcho(of: question, in: message)
    var testimony = Testimony(
        question: question, code: message.code, answers: message.answers,
        negativeTTLSeconds: negativeTTLSeconds(message, question),
        isAuthenticData: message.flags.isAuthenticData, source: source)
    if let edns = message.edns { testimony.extendedErrors = extendedErrors(edns) }
    return testimony
}

/// Of each text no more than is worth keeping.
private func extendedErrors(_ edns: EDNS) -> [ExtendedError] {
    edns.extendedErrors.prefix(Testimony.maximumExtendedErrors).map { code, text in
        ExtendedError(code: code, text: String(text.unicodeScalars.prefix(longestReason)))
    }
}

/// Because: a sentence or two; more is a way to fill the memory of who keeps the answer.
private let longestReason = 300

/// The question must come back as it was asked: a reply to another question, forged or stale, would
/// otherwise be taken for ours. Source: RFC 5452 §9.1.
///
/// A server that could not read or would not serve the query may leave the question out, as long as
/// it claims nothing about the name.
private func checkEcho(of question: Question, in message: Message) throws(QueryFailure) {
    let claimsNothing =
        message.code != .noError && message.code != .noSuchName && message.answers.isEmpty
    if message.questions.isEmpty, claimsNothing { return }
    guard message.questions.count == 1, let echo = message.questions.first else {
        throw .malformed("it repeats \(message.questions.count) questions instead of ours")
    }
    guard echo.name.spells(question.name), echo.type == question.type,
        echo.recordClass == 1
    else {
        throw .malformed(
            "it answers \(echo.name) \(echo.type), not \(question.name) \(question.type)")
    }
}

/// How long a negative answer holds: the smaller of the SOA's TTL and minimum.
///
/// Nil for positive answers and failures, and without an SOA of a zone around the name at the end of
/// the alias chain: a stranger's SOA says nothing of it. Source: RFC 2308 §2, §3, §5.
private func negativeTTLSeconds(_ message: Message, _ question: Question) -> UInt32? {
    guard message.code == .noError || message.code == .noSuchName else { return nil }
    // Most answers have none, and then the chain does not matter.
    guard message.authorities.contains(where: { $0.type == .soa }) else { return nil }
    let chain = AliasChain(of: question, in: message.answers)
    guard message.code == .noSuchName || chain.end.isEmpty else { return nil }
    return message.authorities.compactMap { record -> UInt32? in
        guard case .soa(let soa) = record.data, record.recordClass == 1,
            chain.name.isSameOrUnder(record.name)
        else { return nil }
        return min(record.ttlSeconds, soa.minimumSeconds)
    }.min()
}
