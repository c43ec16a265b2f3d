/// Which rule a chain breaks, and where.
package struct ChainFault: Error, Sendable, Hashable {
    package let code: TrustFailure.Code
    /// For people, with the rule's source.
    package var detail: String
    /// The certificate at fault: 0 is the leaf.
    package var depth = 0
    /// Whether another path from the same leaf might not break it.
    package var isOfPath = false

    init(_ code: TrustFailure.Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// A name that an authority may not issue for, or that cannot be held against its constraints.
    static func name(_ detail: String) -> ChainFault {
        var fault = ChainFault(.nameConstraint, detail + " (RFC 5280 §4.2.1.10)")
        fault.isOfPath = true
        return fault
    }

    func at(depth: Int) -> ChainFault {
        var fault = self
        fault.depth = depth
        return fault
    }
}
