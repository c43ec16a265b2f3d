internal import HTTPDNSExchange

// What was seen of a transfer that comes to no good end
extension ExchangeDriver {
    /// Right before its end is told.
    func brokeOff(_ generation: UInt64, _ facts: TransferFacts) {
        heard(generation) { state, _ in
            state.machine.brokeOff(facts)
            return []
        }
    }
}
