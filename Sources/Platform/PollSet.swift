internal import CHTTPDNSSystem
package import HTTPDNSNames

/// Where one thread sleeps whose sockets change all the time: until one is ready, a point in time, or
/// another thread's ``WakeSignal``.
///
/// Each wait looks at all of them, which costs some ten nanoseconds a socket; what an ``EventPoll``
/// is told of each change is a system call. For sockets that are waited for long, and are many, use
/// that.
package final class PollSet {
    /// A socket, and what it is ready for.
    package struct Ready: Sendable, Hashable {
        package let socket: Int32
        package let isReadable: Bool
        package let isWritable: Bool
        /// The descriptor is none, or has urgent data: nothing that we wait for.
        package let isBroken: Bool
    }

    private let signal: WakeSignal
    /// The signal first.
    private var entries: [pollfd]
    private var places: [Int32: Int] = [:]

    package init(_ signal: WakeSignal) {
        self.signal = signal
        entries = [pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0)]
    }

    /// Waits for that from now on, and for nothing else that was asked for before.
    package func watch(_ socket: Int32, forReading: Bool, forWriting: Bool) {
        let events = Int16(forReading ? POLLIN | POLLPRI : 0) | Int16(forWriting ? POLLOUT : 0)
        if let place = places[socket] {
            entries[place].events = events
        } else {
            places[socket] = entries.count
            entries.append(pollfd(fd: socket, events: events, revents: 0))
        }
    }

    package func forget(_ socket: Int32) {
        guard let place = places.removeValue(forKey: socket), let last = entries.popLast(),
            place < entries.count
        else { return }
        entries[place] = last
        places[last.fd] = place
    }

    /// Sleeps until something happens, and adds what is ready: nothing for a wake-up, a signal or
    /// `deadline`.
    package func wait(until deadline: Monotonic, now: Monotonic, _ ready: inout [Ready]) {
        let left = Int32(clamping: deadline.millisecondsLeft(from: now))
        let count = entries.withUnsafeMutableBufferPointer {
            poll($0.baseAddress, nfds_t($0.count), left)
        }
        guard count > 0 else { return }
        var rest = Int(count)
        if entries[0].revents != 0 {
            signal.drain()
            rest -= 1
        }
        var gone: [Int32] = []
        var place = 1
        while rest > 0, place < entries.count {
            let entry = entries[place]
            if entry.revents != 0 {
                rest -= 1
                ready.append(Ready(entry))
                if Int32(entry.revents) & POLLNVAL != 0 { gone.append(entry.fd) }
            }
            place += 1
        }
        // Once is enough: a descriptor that is none would end every sleep.
        for socket in gone { forget(socket) }
    }
}

extension PollSet.Ready {
    /// An error or a hang-up is told by the next read and the next write.
    fileprivate init(_ entry: pollfd) {
        let (asked, got) = (Int32(entry.events), Int32(entry.revents))
        socket = entry.fd
        isReadable = asked & POLLIN != 0 && got & (POLLIN | POLLERR | POLLHUP) != 0
        isWritable = asked & POLLOUT != 0 && got & (POLLOUT | POLLERR | POLLHUP) != 0
        isBroken = got & (POLLPRI | POLLNVAL) != 0
    }
}
