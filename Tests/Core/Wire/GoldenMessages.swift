/// The octets that `text` spells: two hexadecimal digits each, other characters ignored.
func octets(_ text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Whole messages, written by hand from the RFCs.
enum GoldenMessages {
    /// `www.example.com A`, ID 0, recursion desired. Source: RFC 8484 §4.1.1.
    static let query = octets(
        "00000100 00010000 00000000 03777777 07657861 6d706c65 03636f6d 00 0001 0001")

    /// The same with EDNS: 1232 octets, DNSSEC OK.
    static let ednsQuery = octets(
        "1a2b0100 00010000 00000001 03777777 07657861 6d706c65 03636f6d 00 0001 0001"
            + "00 0029 04d0 00008000 0000")

    /// `www.example.com` is an alias of `cdn.example.com`, which has two addresses.
    static let aliasAnswer = octets(
        "1a2b8180 00010003 00000000 03777777 07657861 6d706c65 03636f6d 00 0001 0001"
            + "c00c 0005 0001 0000012c 0006 0363646e c010"
            + "c02d 0001 0001 0000003c 0004 cb007107"
            + "c02d 0001 0001 0000003c 0004 cb007108")

    /// `www.example.com AAAA 2001:db8::7`, with an extended DNS error (stale answer) and padding.
    static let sixAnswer = octets(
        "00008580 00010001 00000001 03777777 07657861 6d706c65 03636f6d 00 001c 0001"
            + "c00c 001c 0001 00000005 0010 20010db8 00000000 00000000 00000007"
            + "00 0029 04d0 00000000 0015 000f 0007 0003 7374616c65 000c 0006 000000000000")

    /// No such name under `example.com`, whose SOA says 300 s.
    static let noSuchName = octets(
        "00078183 00010000 00010000 046e6f7065 07657861 6d706c65 03636f6d 00 0001 0001"
            + "c011 0006 0001 00000e10 0026 026e73 c011 0a686f73746d6173746572 c011"
            + "78a3b1c9 00001c20 00000e10 00127500 0000012c")

    /// MX, TXT, SRV, CAA, NS and PTR for `example.com`.
    static let oldTypes = octets(
        "00098400 00010006 00000000 07657861 6d706c65 03636f6d 00 00ff 0001"
            + "c00c 000f 0001 0000003c 0009 000a 046d61696c c00c"
            + "c00c 0010 0001 0000003c 000c 06 763d73706631 04 61226200"
            + "c00c 0021 0001 0000003c 0017 0001 0002 1466 03737276 07657861 6d706c65 03636f6d 00"
            + "c00c 0101 0001 0000003c 0016 00 05 6973737565 6c657473656e63727970742e6f7267"
            + "c00c 0002 0001 0000003c 0006 036e7331 c00c"
            + "c00c 000c 0001 0000003c 0005 02 7879 c00c")

    /// HTTPS for `example.com`: an alias, and a service with alpn, port and hints.
    static let service = octets(
        "00008180 00010002 00000000 07657861 6d706c65 03636f6d 00 0041 0001"
            + "c00c 0041 0001 00000e10 000b 0000 03 737663 03 6e6574 00"
            + "c00c 0041 0001 00000e10 003c 0001 00 0000 0002 0001 0001 0006 02 6832 02 6833"
            + "0003 0002 20fb 0004 0004 c0000201 0005 0003 010203"
            + "0006 0010 20010db8 00000000 00000000 00000001")

    /// A type of tomorrow, a class of yesterday (CH), a DNS UPDATE's empty data.
    static let unknowns = octets(
        "00ff8000 00010002 00010000 07657861 6d706c65 03636f6d 00 ff00 0001"
            + "c00c ff00 0001 00000001 0003 010203"
            + "c00c 0001 0003 00000001 0006 0161 c00c 0001"
            + "c00c 0001 00ff 00000000 0000")

    /// BADVERS, 16: a code that needs EDNS's bits.
    static let badVersion = octets(
        "00018180 00010000 00000001 00 0002 0001 00 0029 0200 01000000 0000")

    static let all = [
        query, ednsQuery, aliasAnswer, sixAnswer, noSuchName, oldTypes, service, unknowns,
        badVersion,
    ]
}
