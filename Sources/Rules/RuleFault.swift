/// Why a rule cannot be made: what is wrong, and what to do.
public struct RuleFault: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String

    package init(_ description: String) { self.description = description }
}
