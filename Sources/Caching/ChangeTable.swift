/// Tells which answers are of a time before a change, so that they are not kept. Does no I/O.
/// Source: RFC 9111 §4.4.
///
///     opened ─▶ current ── its URL, or everything, is changed ─▶ outdated
///
/// Rules:
/// 1. Whoever may keep an answer takes a ticket before it asks, however it goes to the origin, and
///    looks at it when the answer has come. What is outdated stays so.
/// 2. A change of everything, a sign-out say, counts against all that began before it: what an
///    exchange asks for later, where a redirect leads, it asks for with what it began with.
/// 3. A change of one URL counts against the tickets for that URL, and is forgotten with the last of
///    them: there are never more URLs than tickets.
package struct ChangeTable: Sendable {
    /// The time from one change of everything to the next.
    package struct Era: Sendable, Hashable {
        fileprivate var number: UInt64 = 0
    }

    package struct Ticket: Sendable, Hashable {
        fileprivate let url: CacheKey
        fileprivate let era: Era
        /// Of the URL, when it was opened.
        fileprivate let changes: UInt64
    }

    private struct Asked {
        var tickets = 1
        var changes: UInt64 = 0
    }

    package private(set) var era = Era()
    private var urls: [CacheKey: Asked] = [:]

    package init() {}

    /// Nobody has a ticket.
    package var isEmpty: Bool { urls.isEmpty }

    /// - Parameter era: in which the exchange began that asks.
    package mutating func open(_ url: CacheKey, since era: Era) -> Ticket {
        if urls[url] == nil { urls[url] = Asked() } else { urls[url]?.tickets += 1 }
        return Ticket(url: url, era: era, changes: urls[url]?.changes ?? 0)
    }

    /// What these URLs name was changed; for nil, everything was.
    package mutating func changed(_ changed: [CacheKey]?) {
        guard let changed else {
            era.number &+= 1
            return
        }
        for url in Set(changed) { urls[url]?.changes &+= 1 }
    }

    package func isOutdated(_ ticket: Ticket) -> Bool {
        ticket.era != era || urls[ticket.url]?.changes != ticket.changes
    }

    /// A ticket is given back; once.
    package mutating func close(_ ticket: Ticket) {
        guard let asked = urls[ticket.url] else { return }
        if asked.tickets > 1 { urls[ticket.url]?.tickets -= 1 } else { urls[ticket.url] = nil }
    }
}
