/// The only code that touches the octets of a message: every read is checked against its bounds.
///
/// Reading a name costs at most one step a label or pointer; the steps of a whole message are
/// bounded by ``stepsAllowed``, so decoding is linear in the message's length whatever it says.
package struct WireReader {
    private let octets: [UInt8]
    /// The next octet to read.
    package private(set) var position = 0
    /// Reads end here: the end of the message, or of the record's data inside ``within(_:_:)``.
    private var limit: Int
    private var isWithinPart = false
    /// Labels and pointers followed so far.
    package private(set) var steps = 0
    /// Names that begin at an offset, so that a bare pointer there costs one step.
    private var known: [(offset: Int, name: WireName)] = []

    package init(_ octets: [UInt8]) {
        self.octets = octets
        limit = octets.count
    }

    /// How many labels and pointers a message may make us follow.
    ///
    /// Because: a reverse-lookup zone, the most label-rich data in the field, needs about two steps an
    /// octet; the constant lets short messages be as odd as they like.
    package var stepsAllowed: Int { 1_024 + 4 * octets.count }

    /// Octets left before the limit.
    package var remaining: Int { limit - position }

    package mutating func octet() throws(WireError) -> UInt8 {
        try need(1)
        defer { position += 1 }
        return octets[position]
    }

    package mutating func uint16() throws(WireError) -> UInt16 {
        try need(2)
        defer { position += 2 }
        return UInt16(octets[position]) << 8 | UInt16(octets[position + 1])
    }

    package mutating func uint32() throws(WireError) -> UInt32 {
        let high = try uint16()
        return UInt32(high) << 16 | UInt32(try uint16())
    }

    package mutating func take(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        try need(count)
        defer { position += count }
        return octets[position..<(position + count)]
    }

    /// All that is left before the limit.
    package mutating func rest() -> ArraySlice<UInt8> {
        defer { position = limit }
        return octets[position..<limit]
    }

    /// One length octet and as many octets. Source: RFC 1035 §3.3 `<character-string>`.
    package mutating func characterString() throws(WireError) -> ArraySlice<UInt8> {
        try take(Int(octet()))
    }

    /// Reads a part of exactly `count` octets: what `read` leaves over is an error.
    package mutating func within<Value>(
        _ count: Int, _ read: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> Value {
        try need(count)
        let outer = (limit, isWithinPart)
        (limit, isWithinPart) = (position + count, true)
        let value = try read(&self)
        guard position == limit else { throw WireError(.recordTooLong, atOctet: position) }
        (limit, isWithinPart) = outer
        return value
    }

    private func need(_ count: Int) throws(WireError) {
        guard count <= limit - position else {
            throw WireError(isWithinPart ? .recordTooShort : .truncated, atOctet: position)
        }
    }
}

extension WireReader {
    /// Longest chain of pointers in one name.
    ///
    /// Because: a name has at most 127 labels, and a pointer to a pointer says nothing.
    private static let maximumPointers = 127
    /// Names remembered for bare pointers.
    ///
    /// Because: nearly all pointers of an answer lead to the question or to the few aliases.
    private static let maximumKnown = 8

    /// Reads a name, following pointers backwards only. Source: RFC 1035 §4.1.4.
    package mutating func name(mayPoint: Bool = true) throws(WireError) -> WireName {
        let start = position
        if mayPoint, let name = try knownName() { return name }
        if let name = plainName() { return name }
        var walk = NameWalk(at: position, bound: limit)
        while try !follow(&walk, mayPoint: mayPoint) {}
        position = walk.resume ?? walk.at
        let name = WireName(checked: walk.labels)
        if known.count < WireReader.maximumKnown {
            known.append((start, name))
        }
        return name
    }

    /// A name without pointers, copied at once; nil where there is anything else, which is for the walk.
    private mutating func plainName() -> WireName? {
        let start = position
        var at = start
        var labels = 0
        while at < limit, octets[at] != 0 {
            guard octets[at] < 0x40 else { return nil }
            at += 1 + Int(octets[at])
            labels += 1
        }
        guard at < limit, at - start < WireName.maximumOctets, steps + labels < stepsAllowed else {
            return nil
        }
        steps += labels + 1
        position = at + 1
        let name = WireName(checked: Array(octets[start..<at]))
        if known.count < WireReader.maximumKnown { known.append((start, name)) }
        return name
    }

    /// Where we are in one name.
    private struct NameWalk {
        var labels: [UInt8] = []
        var at: Int
        /// The end of readable octets: the record's data until the first pointer, then the message.
        var bound: Int
        /// Pointers must lead before this: the start of the run of labels we are in.
        var runStart: Int
        var pointers = 0
        /// Where reading goes on after the name, once a pointer was followed.
        var resume: Int?

        init(at: Int, bound: Int) {
            self.at = at
            self.bound = bound
            runStart = at
            labels.reserveCapacity(32)
        }
    }

    /// Reads one label or pointer; true when the name has ended.
    private mutating func follow(
        _ walk: inout NameWalk, mayPoint: Bool
    ) throws(WireError) -> Bool {
        try spendStep(at: walk.at)
        let first = try peek(walk.at, in: walk)
        switch first & 0xC0 {
        case 0x00 where first == 0:
            walk.at += 1
            return true
        case 0x00:
            let end = walk.at + 1 + Int(first)
            _ = try peek(end - 1, in: walk)
            guard walk.labels.count + Int(first) + 2 <= WireName.maximumOctets else {
                throw WireError(.nameTooLong, atOctet: walk.at)
            }
            walk.labels += octets[walk.at..<end]
            walk.at = end
        case 0xC0:
            guard mayPoint else { throw WireError(.pointerForbidden, atOctet: walk.at) }
            let target = Int(first & 0x3F) << 8 | Int(try peek(walk.at + 1, in: walk))
            guard target < walk.runStart else {
                throw WireError(.pointerNotBackwards, atOctet: walk.at)
            }
            walk.pointers += 1
            guard walk.pointers <= WireReader.maximumPointers else {
                throw WireError(.tooMuchCompression, atOctet: walk.at)
            }
            walk.resume = walk.resume ?? walk.at + 2
            walk.at = target
            walk.runStart = target
            walk.bound = octets.count
        default:
            throw WireError(.reservedLabelType, atOctet: walk.at)
        }
        return false
    }

    /// A bare pointer to a name read before.
    private mutating func knownName() throws(WireError) -> WireName? {
        guard remaining >= 2, octets[position] & 0xC0 == 0xC0 else { return nil }
        let target = Int(octets[position] & 0x3F) << 8 | Int(octets[position + 1])
        guard let found = known.first(where: { $0.offset == target }) else { return nil }
        try spendStep(at: position)
        position += 2
        return found.name
    }

    private func peek(_ index: Int, in walk: NameWalk) throws(WireError) -> UInt8 {
        guard index < walk.bound else {
            throw WireError(
                isWithinPart && walk.pointers == 0 ? .recordTooShort : .truncated,
                atOctet: walk.at)
        }
        return octets[index]
    }

    private mutating func spendStep(at index: Int) throws(WireError) {
        steps += 1
        guard steps <= stepsAllowed else {
            throw WireError(.tooMuchCompression, atOctet: index)
        }
    }
}
