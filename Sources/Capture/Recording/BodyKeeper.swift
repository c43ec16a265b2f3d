internal import HTTPDNSPlatform

/// What a watch keeps of one body before it hands it on: a beginning of bounded size.
struct BodyKeeper: Sendable {
    /// All octets that passed.
    private(set) var total: Int64 = 0
    /// Not yet handed on.
    private(set) var held: [UInt8] = []
    /// Handed on in pieces.
    private(set) var handedOn: Int64 = 0
    private var hasLeftOut = false
    private let maximum: Int64

    /// What is kept is not all: also while a repeat has not come as far as what was handed on.
    var isCut: Bool { hasLeftOut || total < handedOn }

    var keepsNothing: Bool { maximum == 0 }

    init(_ limits: CaptureLimits) { maximum = max(0, limits.maximumBodyOctets) }

    /// Copies what is wanted of the octets; a piece to be handed on, where enough is together.
    mutating func take(_ octets: UnsafeRawBufferPointer) -> [UInt8]? {
        // Of a repeat, what was handed on is with the reader already: twice would confuse it.
        let known = min(Int64(octets.count), max(0, handedOn - total))
        total &+= Int64(octets.count)
        let fresh = Int64(octets.count) - known
        let room = maximum - handedOn - Int64(held.count)
        let wanted = min(fresh, max(0, room))
        if wanted < fresh { hasLeftOut = true }
        guard wanted > 0 else { return nil }
        held.append(contentsOf: octets.dropFirst(Int(known)).prefix(Int(wanted)))
        guard held.count >= BodyKeeper.pieceOctets else { return nil }
        defer { held = [] }
        handedOn += Int64(held.count)
        return held
    }

    /// Octets of which nothing is kept.
    mutating func count(_ octets: Int) { total &+= Int64(octets) }

    mutating func drop() { held = [] }

    /// The body is sent from its beginning again.
    mutating func beginAgain() {
        total = 0
        // What was handed on stands: it is the same body.
        held = []
        hasLeftOut = false
    }

    /// Because: nearly every body of an API is shorter and costs one message with its record; a
    /// longer one costs a message for that many octets.
    static let pieceOctets = 65_536
}
