/// One record of a capture as the file holds it.
package struct CaptureRow: Sendable, Hashable {
    /// Of the file; 0 before it is written.
    package var number: Int64 = 0
    package var startedMicroseconds: Int64 = 0
    package var endedMicroseconds: Int64 = 0
    /// Nil: nobody knows.
    package var totalMicroseconds: Int64?
    package var kind = ""
    package var method = ""
    package var host = ""
    /// Empty: it did not fail.
    package var failure = ""
    package var resolver = ""
    package var status: Int64?
    package var sentOctets: Int64 = 0
    package var receivedOctets: Int64 = 0
    /// Its addresses came from the resolver's cache.
    package var isLookupCached = false
    /// The cache of responses answered.
    package var isAnswerCached = false
    /// Names the pieces of its bodies; 0: there are none.
    package var stream: Int64 = 0
    /// Octets of those pieces.
    package var pieceOctets: Int64 = 0
    /// All of it, in JSON.
    package var detail: [UInt8] = []
    /// Bodies that fit here.
    package var sent: [UInt8] = []
    package var received: [UInt8] = []

    package init() {}

    /// What the limits count: a row's own octets, its pieces, and what the database needs for them.
    var octets: Int64 {
        Int64(detail.count + sent.count + received.count) + pieceOctets + 256
    }
}

/// Octets of a body that is too long for its row.
package struct CapturePieceRow: Sendable, Hashable {
    package let stream: Int64
    /// 0: the request's, 1: the answer's.
    package let side: Int64
    package let number: Int64
    package let octets: [UInt8]

    package init(stream: Int64, side: Int64, number: Int64, octets: [UInt8]) {
        self.stream = stream
        self.side = side
        self.number = number
        self.octets = octets
    }
}

/// Which records are wanted.
package struct CaptureSelection: Sendable, Hashable {
    /// A host, or names under it, that the request was for, or of which its detail speaks: whoever
    /// reads the detail judges.
    package var host: String?
    package var method: String?
    package var statuses: ClosedRange<Int64>?
    package var isFailed: Bool?
    package var since: Int64?
    package var until: Int64?
    package var kind: String?
    /// The last so many; nil: all.
    package var last: Int64?
    /// Only numbers above it.
    package var after: Int64?
    /// Only this number.
    var only: Int64?

    package init() {}
}

/// How much of a row is read.
package enum CaptureDepth: Sendable, Hashable {
    /// What is looked for.
    case columns
    /// Also ``CaptureRow/detail``.
    case detail
    /// Bodies, too.
    case whole
}

/// How much a capture's file may hold.
package struct CaptureRoom: Sendable, Hashable {
    package let records: Int64
    package let octets: Int64
    package let ageMicroseconds: Int64?

    package init(records: Int64, octets: Int64, ageMicroseconds: Int64?) {
        self.records = max(1, records)
        self.octets = max(65_536, octets)
        self.ageMicroseconds = ageMicroseconds
    }
}

/// What stands in a capture's file.
package struct CaptureContents: Sendable, Hashable {
    package let records: Int64
    package let octets: Int64
    /// Records that were lost on the way into it.
    package let dropped: Int64
}
