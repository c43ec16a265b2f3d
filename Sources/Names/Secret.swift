/// A text that must not be seen: a provider's key, a token.
///
/// Printing, interpolating, dumping or reflecting one shows only that it is there. Its text leaves
/// by ``revealed`` alone, so that a search for that word finds every use.
public struct Secret: Sendable, Hashable {
    /// The text itself. Never put it in a message, a log, an error or a command line.
    public let revealed: String

    /// Takes any text; what it must look like is the business of the one who uses it.
    public init(_ text: String) { revealed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret)" }
    public var debugDescription: String { "(secret)" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
