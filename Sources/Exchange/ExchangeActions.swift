package import HTTPDNSNames

// What the machine tells its driver.
extension ExchangeMachine {
    package enum Action: Sendable, Hashable {
        /// Ask the cache about this hop; answered by ``ExchangeMachine/notKept(fallsBack:now:)`` or
        /// ``ExchangeMachine/isKept()``.
        case consult(RequestHead)
        /// The network failed: let what is kept answer, as after ``ExchangeMachine/isKept()``.
        case fallBack
        case resolve(Host)
        /// The same past what is kept; answered like ``resolve(_:)``. `doubting`: the source whose
        /// addresses led to somebody else.
        case refresh(Host, doubting: String? = nil)
        /// The same by the system; answered like ``resolve(_:)``.
        case resolveBySystem(Host)
        case stopResolving
        /// Send the request; the address goes into the route and nowhere else. `freshly`: on a
        /// connection of its own; `via`: the route is that to a proxy.
        case transfer(
            RequestHead, Route, sendsBody: Bool, freshly: Bool = false, via: ProxyPath? = nil)
        case cancelTransfer
        /// Say ``ExchangeMachine/drainedLongEnough()`` in a moment, unless the transfer is over by then.
        case limitDraining
        /// Keep these `Set-Cookie` lines under the logical URL.
        case storeCookies([FieldText], from: HTTPURL)
        /// Ask the caller, who answers by ``ExchangeMachine/redirectAnswered(_:now:)``.
        case offerRedirect(RedirectOffer)
        /// Hand over the head, then what was held back, then say so by
        /// ``ExchangeMachine/handedOver(now:)``.
        case deliver(ResponseHead)
        case finish(ExchangeReport)
        case fail(ExchangeFailure)
    }

    /// Whether body octets of the running transfer are the caller's.
    package enum BodyUse: Sendable, Hashable {
        case deliver
        case discard
        /// The caller is still being asked.
        case hold
    }
}
