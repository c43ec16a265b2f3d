internal import CHTTPDNSSystem

/// Somebody who has news for another thread, and tells them together.
package protocol TurnListener: AnyObject, Sendable {
    /// Comes once for each ``LoopTurn/tellAtEnd(_:)``, later on the same thread.
    func turnEnded()
}

/// One round of an event loop on a thread of ours.
///
/// A response often comes whole: head, body and end in one round. To wake another thread costs more than
/// all that is done with each of them; so whoever is told something in a round says here that there is
/// news, and wakes once when the round is over.
///
/// Rules:
/// 1. On a thread that runs no such loop the end is now.
/// 2. Nothing waits longer than until the loop goes to sleep, or the thread ends.
package enum LoopTurn {
    /// Tells `listener` when the round ends that this thread is in.
    package static func tellAtEnd(_ listener: any TurnListener) {
        guard let place = httpdns_thread_loop() else { return listener.turnEnded() }
        Unmanaged<Desk>.fromOpaque(place).takeUnretainedValue().listeners.append(listener)
    }

    /// Makes this thread one that runs a loop, for as long as `body` takes.
    package static func runLoop(_ body: (Loop) -> Void) {
        let loop = Loop()
        httpdns_thread_set_loop(Unmanaged.passUnretained(loop.desk).toOpaque())
        body(loop)
        httpdns_thread_set_loop(nil)
        loop.endTurn()
    }

    /// The loop's own side; stays on its thread.
    package struct Loop {
        fileprivate let desk = Desk()

        /// Tells all who have news.
        package func endTurn() {
            while !desk.listeners.isEmpty {
                swap(&desk.listeners, &desk.told)
                for listener in desk.told { listener.turnEnded() }
                desk.told.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Touched by its thread alone.
    fileprivate final class Desk {
        var listeners: [any TurnListener] = []
        var told: [any TurnListener] = []
    }
}
