public import Foundation
public import HTTPDNSExchange

extension ExchangeFailure: LocalizedError {
    /// The whole message, so that `localizedDescription` says what happened.
    public var errorDescription: String? { description }
}
