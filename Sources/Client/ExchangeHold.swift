/// An exchange in the state of whoever started it, and may want it cancelled before its handle is
/// known or after its end. To be used under that state's lock; what it returns is to be cancelled, or
/// told to go on, without.
package struct ExchangeHold: Sendable {
    /// Nil before ``take(_:)``, and after ``end()``.
    package private(set) var exchange: (any RunningExchange)?
    private var isCancelled = false
    private var isOver = false

    package init() {}

    /// Keeps it until its end; returns it when a cancel has come before.
    package mutating func take(_ started: any RunningExchange) -> (any RunningExchange)? {
        guard !isOver else { return nil }
        exchange = started
        return isCancelled ? started : nil
    }

    /// Returns what is to be cancelled.
    package mutating func cancel() -> (any RunningExchange)? {
        isCancelled = true
        return exchange
    }

    /// Its end was told.
    package mutating func end() {
        isOver = true
        exchange = nil
    }
}
