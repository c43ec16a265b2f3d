internal import HTTPDNSCaching
internal import HTTPDNSPlatform

/// Drives one ``ChangeTable``: what was changed while answers are on their way.
package final class Changes: Sendable {
    private let table = Locked(ChangeTable())

    /// Nobody has a ticket.
    package var isEmpty: Bool { table.withLock { $0.isEmpty } }

    /// To be noted by an exchange when it begins.
    var era: ChangeTable.Era { table.withLock { $0.era } }

    /// A ticket, to be taken before anything is looked for or sent.
    func ticket(for url: CacheKey, since era: ChangeTable.Era) -> ChangeTicket {
        ChangeTicket(table.withLock { $0.open(url, since: era) }, of: self)
    }

    /// What is on its way for these URLs, or for all where it is nil, is not to be kept.
    func note(_ urls: [CacheKey]?) { table.withLock { $0.changed(urls) } }

    fileprivate func isOutdated(_ ticket: ChangeTable.Ticket) -> Bool {
        table.withLock { $0.isOutdated(ticket) }
    }

    fileprivate func close(_ ticket: ChangeTable.Ticket) { table.withLock { $0.close(ticket) } }
}

/// Says of one answer whether it is of a time before a change; given back when it is let go of. From
/// any thread, the store's too.
final class ChangeTicket: Sendable {
    private let ticket: ChangeTable.Ticket
    private let changes: Changes

    fileprivate init(_ ticket: ChangeTable.Ticket, of changes: Changes) {
        self.ticket = ticket
        self.changes = changes
    }

    deinit { changes.close(ticket) }

    var isOutdated: Bool { changes.isOutdated(ticket) }
}
