/// A DNS message. Source: RFC 1035 §4.
public struct Message: Sendable, Hashable {
    /// What ties a reply to its query. Source: RFC 1035 §4.1.1.
    public var id: UInt16
    public var flags: Flags
    /// The whole response code: the header's four bits, and eight more from EDNS.
    public var code: ResponseCode
    public var questions: [Question]
    public var answers: [ResourceRecord]
    public var authorities: [ResourceRecord]
    /// The additional section without the OPT record, which is ``edns``.
    public var additionals: [ResourceRecord]
    public var edns: EDNS?

    public init(
        id: UInt16, flags: Flags = Flags(), code: ResponseCode = .noError,
        questions: [Question] = []
    ) {
        self.id = id
        self.flags = flags
        self.code = code
        self.questions = questions
        answers = []
        authorities = []
        additionals = []
    }

    /// What is asked. Source: RFC 1035 §4.1.2.
    public struct Question: Sendable, Hashable {
        public let name: WireName
        public let type: RecordType
        /// 1 for IN.
        public let recordClass: UInt16

        public init(name: WireName, type: RecordType, recordClass: UInt16 = 1) {
            self.name = name
            self.type = type
            self.recordClass = recordClass
        }
    }

    /// The header's flags. Source: RFC 1035 §4.1.1, RFC 4035 §3.1.6 and §3.2.
    public struct Flags: Sendable, Hashable {
        /// QR: this is a response.
        public var isResponse = false
        /// 0...15; 0 is a query. Higher bits are not sent.
        public var opcode: UInt8 = 0
        /// AA: the server is an authority for the name.
        public var isAuthoritative = false
        /// TC: the message was cut short; ask again over TCP.
        public var isTruncated = false
        /// RD: please recurse.
        public var wantsRecursion = false
        /// RA: the server recurses.
        public var offersRecursion = false
        /// AD: the server has verified the data by DNSSEC.
        public var isAuthenticData = false
        /// CD: do not verify for me.
        public var isCheckingDisabled = false

        public init() {}

        init(word: UInt16) {
            isResponse = word & 0x8000 != 0
            opcode = UInt8(word >> 11 & 0xF)
            isAuthoritative = word & 0x0400 != 0
            isTruncated = word & 0x0200 != 0
            wantsRecursion = word & 0x0100 != 0
            offersRecursion = word & 0x0080 != 0
            isAuthenticData = word & 0x0020 != 0
            isCheckingDisabled = word & 0x0010 != 0
        }

        var word: UInt16 {
            var word = UInt16(opcode & 0xF) << 11
            if isResponse { word |= 0x8000 }
            if isAuthoritative { word |= 0x0400 }
            if isTruncated { word |= 0x0200 }
            if wantsRecursion { word |= 0x0100 }
            if offersRecursion { word |= 0x0080 }
            if isAuthenticData { word |= 0x0020 }
            if isCheckingDisabled { word |= 0x0010 }
            return word
        }
    }

    /// The longest message. Source: RFC 1035 §4.2.2 (a 16-bit length), RFC 8484 §6.
    public static let maximumOctets = 65_535
}

/// The first twelve octets, which can be read when the rest cannot: a truncated reply's rest may be
/// cut anywhere.
package struct MessageHeader: Sendable, Hashable {
    package let id: UInt16
    package let flags: Message.Flags
    /// The low four bits of the response code.
    package let codeBits: UInt8
    /// How many there are said to be; nothing is sized by these.
    package let questions: UInt16
    package let answers: UInt16
    package let authorities: UInt16
    package let additionals: UInt16

    /// Reads the header of `octets`; what follows it is not looked at.
    package init(_ octets: [UInt8]) throws(WireError) {
        var reader = WireReader(octets)
        try self.init(reading: &reader)
    }

    package init(reading reader: inout WireReader) throws(WireError) {
        id = try reader.uint16()
        let word = try reader.uint16()
        flags = Message.Flags(word: word)
        codeBits = UInt8(word & 0xF)
        questions = try reader.uint16()
        answers = try reader.uint16()
        authorities = try reader.uint16()
        additionals = try reader.uint16()
    }
}
