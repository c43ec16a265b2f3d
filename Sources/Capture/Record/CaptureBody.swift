extension CaptureRecord {
    /// A body, as much of it as was kept.
    public struct Body: Sendable, Hashable {
        /// How many octets passed: all of them, whatever was kept.
        public var totalOctets: Int64 = 0
        /// Its beginning, secrets taken out; at most ``Body/maximumInlineOctets``. The rest, where
        /// more was kept, is in the file: see ``CaptureFile/body(of:_:_:)``.
        public var octets: [UInt8] = []
        /// How many octets were kept, secrets replaced.
        public var keptOctets: Int64 = 0
        /// Why not all of it was kept; nil when it was.
        public var omission: Omission?
        /// Its media type by the word of a file of another program, where that is not what the field
        /// `Content-Type` says; nil: what the field says.
        public var mediaType: String?

        public init() {}

        /// A whole body that is at hand.
        public init(_ octets: [UInt8]) {
            totalOctets = Int64(octets.count)
            self.octets = octets
            keptOctets = Int64(octets.count)
        }

        /// Because: nearly every body of an API fits, and a ring of a thousand records stays small.
        public static let maximumInlineOctets = 65_536
    }

    /// Why a body was not kept whole.
    public enum Omission: String, Sendable, Hashable {
        /// It is longer than ``CaptureLimits/maximumBodyOctets``.
        case cut
        /// Bodies are not kept: ``CaptureLimits/maximumBodyOctets`` is 0.
        case off
        /// It came coded (`gzip` …), as the application had asked for, so that its secrets could
        /// not be found.
        case coded
        /// The writer could not keep up.
        case dropped
        /// Nobody here could read it.
        case unseen
    }

    /// Which body of a record.
    public enum Side: Int, Sendable, Hashable, CaseIterable {
        case request = 0
        case response = 1
    }
}
