internal import HTTPDNSNames

/// Decides whether a request that failed goes out again, and how. Pure; it sends nothing.
///
/// Rules:
/// 1. Nothing was sent (no connection, no handshake, no proof): the next address.
/// 2. Nothing was processed, by the peer's own word (`REFUSED_STREAM`, a `GOAWAY` that names an earlier
///    stream): once more on another connection, whatever the method. Source: RFC 9113 §6.8, §8.7.
/// 3. A kept connection broke before an octet of a response came, as happens when the server has just
///    given it up: once more on another, if the method is idempotent. A `POST` may have been carried
///    out; sending it again by itself is how people pay twice. Source: RFC 9110 §9.2.2.
/// 4. 421: once more on a fresh connection, whatever the method: the server says that it is not the one
///    for this host on that connection. Source: RFC 9110 §15.5.20.
/// 5. A body that was read and cannot be read again goes out once.
/// 6. In all at most ``maximumTransfers`` a hop, of them ``maximumRepeats`` by rules 2 and 3. The last
///    of these is on a connection of its own: one that many share may be given up again and again
///    before it is this request's turn.
struct RetryRules: Sendable {
    /// What the transfers of one hop have come to.
    struct Tally: Sendable, Hashable {
        var transfers = 0
        /// Of the last transfer.
        var startedAt: Monotonic?
        var repeats = 0
        var wasMisdirected = false
        var wasRefreshed = false
        /// Addresses that are out, whatever a later answer says.
        var excluded: Set<IPAddress> = []
        /// Passed over once, since they said nothing.
        var silent: Set<IPAddress> = []

        /// One that was silent is tried once more, where it may have all the time that is left.
        mutating func passOver(_ addresses: [PassedOver], in plan: inout RoutePlan) {
            for one in addresses
            where !one.wasSilent || !silent.insert(one.address).inserted {
                _ = plan.exclude(one.address)
                excluded.insert(one.address)
            }
        }
    }

    let isIdempotent: Bool
    /// There is no body, or it can be read again.
    let canReplay: Bool

    /// Whether a request that was let out goes out once more after `loss`.
    ///
    /// - Parameter isAlone: on a connection that no other request has used.
    func repeats(after loss: RequestLoss, _ tally: Tally, alone isAlone: Bool = false) -> Bool {
        let most = isAlone ? RetryRules.maximumRepeats : RetryRules.maximumRepeats - 1
        guard canReplay, tally.repeats < most else { return false }
        return loss == .unprocessed || isIdempotent
    }

    func retriesMisdirected(_ tally: Tally) -> Bool {
        canReplay && !tally.wasMisdirected && hasRoom(tally)
    }

    func hasRoom(_ tally: Tally) -> Bool { tally.transfers < RetryRules.maximumTransfers }

    static func text(_ loss: RequestLoss) -> String {
        switch loss {
        case .unprocessed: "the peer refused the request unread; it goes out once more"
        case .stale:
            "the kept connection was given up by the peer; the request goes out once more on another"
        }
    }

    /// Misdirected Request. Source: RFC 9110 §15.5.20.
    static let misdirectedStatus = 421
    /// Because: a pool may hold more than one connection that its server gave up at the same moment;
    /// after three in a row the server does not want the request.
    static let maximumRepeats = 3
    /// Because: more than the addresses of any service that is meant to be reached by one answer, and a
    /// bound on what a forged answer of a thousand addresses could make us dial.
    static let maximumTransfers = 16
}

/// What became of a request that was let out on a connection which then failed before a response.
package enum RequestLoss: Sendable, Hashable {
    /// The peer says that it did nothing with it.
    case unprocessed
    /// A kept connection broke under it: what the peer did is not known.
    case stale
}

extension HTTPMethod {
    /// Doing it twice is doing it once. Methods have a case: `get` is another one. Source: RFC 9110
    /// §9.1, §9.2.2.
    package var isIdempotent: Bool { HTTPMethod.idempotent.contains(text) }

    /// Those that the registry of methods marks so, without `PRI`, which is no request. WebDAV clients
    /// live on kept connections.
    ///
    /// Source: the IANA registry of RFC 9110 §18.2 (2026-06), with the RFCs that it names.
    private static let idempotent: Set<String> = [
        // RFC 9110 §9.3.
        "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE",
        // RFC 10008.
        "QUERY",
        // RFC 2068 §19.6.1.
        "LINK", "UNLINK",
        // RFC 4918 §9; `LOCK` is not idempotent.
        "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "UNLOCK",
        // RFC 3253.
        "BASELINE-CONTROL", "CHECKIN", "CHECKOUT", "LABEL", "MERGE", "MKACTIVITY", "MKWORKSPACE",
        "REPORT", "UNCHECKOUT", "UPDATE", "VERSION-CONTROL",
        // RFC 3648, 3744, 4437, 4791 and 5323.
        "ORDERPATCH", "ACL", "MKREDIRECTREF", "UPDATEREDIRECTREF", "MKCALENDAR", "SEARCH",
        // RFC 5842.
        "BIND", "REBIND", "UNBIND",
    ]
}
