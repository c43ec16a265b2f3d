/// Why octets are not a DNS message, or why a message has no wire form.
public struct WireError: Error, Sendable, Hashable, CustomStringConvertible {
    public let fault: Fault
    /// Where: the offset in the message, of what was read or about to be written.
    public let octet: Int

    public init(_ fault: Fault, atOctet octet: Int) {
        self.fault = fault
        self.octet = octet
    }

    /// What was wrong.
    public struct Fault: Sendable, Hashable {
        /// A bounded label, safe in metrics.
        public let label: String
        let text: String

        /// The message ends before what its header or a length promises.
        public static let truncated = Fault(
            label: "truncated", text: "the message ends in the middle of what it promises")
        /// Octets are left after the last record that the header counts.
        public static let trailingOctets = Fault(
            label: "trailing_octets", text: "octets follow the last record")
        /// More than 65,535 octets. Source: RFC 1035 §4.2.2.
        public static let messageTooLong = Fault(
            label: "message_too_long", text: "a message has at most 65535 octets")
        /// More than 65,535 records in a section. Source: RFC 1035 §4.1.1.
        public static let tooManyRecords = Fault(
            label: "too_many_records", text: "a section has at most 65535 records")
        /// A name of more than 255 octets. Source: RFC 1035 §2.3.4.
        public static let nameTooLong = Fault(
            label: "name_too_long", text: "a name has at most 255 octets")
        /// A label type other than a plain label or a pointer. Source: RFC 1035 §4.1.4, RFC 6891 §5.
        public static let reservedLabelType = Fault(
            label: "reserved_label_type", text: "a label of a reserved type")
        /// A compression pointer that does not point to an earlier octet. Source: RFC 1035 §4.1.4.
        public static let pointerNotBackwards = Fault(
            label: "pointer_not_backwards", text: "a compression pointer must point backwards")
        /// Longer pointer chains, or more labels in all, than any honest message has.
        public static let tooMuchCompression = Fault(
            label: "too_much_compression", text: "its names take too many steps to read")
        /// A pointer where the record type forbids compression. Source: RFC 9460 §2.2.
        public static let pointerForbidden = Fault(
            label: "pointer_forbidden", text: "this record type must not compress its names")
        /// The record's data ends before its type allows.
        public static let recordTooShort = Fault(
            label: "record_too_short", text: "the record's data is too short for its type")
        /// The record's data goes on after its type's last field.
        public static let recordTooLong = Fault(
            label: "record_too_long", text: "the record's data is too long for its type")
        /// A length or count inside the record's data breaks its type's rule.
        public static let malformedRecord = Fault(
            label: "malformed_record", text: "the record's data breaks the rules of its type")
        /// SVCB parameters out of order, doubled, or in the wrong form. Source: RFC 9460 §2.2.
        public static let malformedParameter = Fault(
            label: "malformed_parameter", text: "an SVCB parameter breaks RFC 9460")
        /// A second OPT record. Source: RFC 6891 §6.1.1.
        public static let duplicateEDNS = Fault(
            label: "duplicate_edns", text: "more than one OPT record")
        /// An OPT record outside the additional section, or with a name. Source: RFC 6891 §6.1.1.
        public static let misplacedEDNS = Fault(
            label: "misplaced_edns",
            text: "an OPT record belongs to the root, in the additional section")
        /// A response code above 15 needs EDNS; above 4,095 there is none. Source: RFC 6891 §6.1.3.
        public static let codeNeedsEDNS = Fault(
            label: "code_needs_edns", text: "this response code cannot be sent without EDNS")
    }

    public var description: String { "\(fault.text) (at octet \(octet))" }
}
