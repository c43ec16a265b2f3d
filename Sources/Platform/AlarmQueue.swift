package import HTTPDNSNames

/// Alarms by the moment they are due: a binary heap in which every alarm knows where it stands.
///
/// Adding one, taking the next and cancelling any of them costs steps as many as the logarithm of
/// those that wait: most alarms are limits that are cancelled, hundreds a second, long before they
/// are due, and none may stay until then. Alarms of one moment come in the order they were added.
package struct AlarmQueue: Sendable {
    package typealias Ring = @Sendable () -> Void

    /// An alarm in the heap.
    private struct Alarm: Sendable {
        let moment: Monotonic
        let number: UInt64
        let slot: Int

        func isBefore(_ other: Alarm) -> Bool {
            (moment, number) < (other.moment, other.number)
        }
    }

    /// What belongs to an alarm and stays where it is while the heap moves.
    private struct Slot: Sendable {
        /// Of the alarm that has the slot; zero, which no alarm has, while it is free.
        var number: UInt64
        var position: Int
        var ring: Ring?
    }

    private var heap: [Alarm] = []
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var lastNumber: UInt64 = 0

    package init() {}

    /// Alarms that wait.
    package var count: Int { heap.count }

    /// When the next alarm is due.
    package var next: Monotonic? { heap.first?.moment }

    package mutating func add(_ moment: Monotonic, _ ring: @escaping Ring) -> AlarmID {
        lastNumber &+= 1
        let entry = Slot(number: lastNumber, position: heap.count, ring: ring)
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            slots[free] = entry
        } else {
            slot = slots.count
            slots.append(entry)
        }
        heap.append(Alarm(moment: moment, number: lastNumber, slot: slot))
        rise(heap.count - 1)
        return AlarmID(number: lastNumber, slot: slot)
    }

    /// Takes an alarm out; one that is not there any longer is ignored.
    ///
    /// - Returns: its ring, to be let go of where no lock is held: what it alone refers to ends with it.
    package mutating func cancel(_ id: AlarmID) -> Ring? {
        guard slots.indices.contains(id.slot), id.number != 0, slots[id.slot].number == id.number
        else { return nil }
        return remove(slots[id.slot].position)
    }

    /// Takes out what is due, in order.
    package mutating func takeDue(now: Monotonic) -> [Ring] {
        var due: [Ring] = []
        while let first = heap.first, first.moment <= now {
            if let ring = remove(0) { due.append(ring) }
        }
        return due
    }

    private mutating func remove(_ position: Int) -> Ring? {
        let slot = heap[position].slot
        let ring = slots[slot].ring
        slots[slot] = Slot(number: 0, position: 0, ring: nil)
        freeSlots.append(slot)
        let last = heap.removeLast()
        if position < heap.count {
            place(last, at: position)
            // The last may come from another branch, and belong above the place that is free.
            rise(position)
            sink(slots[last.slot].position)
        }
        if heap.isEmpty, slots.count > AlarmQueue.keptSlots { letGoOfRoom() }
        return ring
    }

    private mutating func place(_ alarm: Alarm, at position: Int) {
        heap[position] = alarm
        slots[alarm.slot].position = position
    }

    private mutating func rise(_ start: Int) {
        let alarm = heap[start]
        var at = start
        while at > 0, alarm.isBefore(heap[(at - 1) / 2]) {
            place(heap[(at - 1) / 2], at: at)
            at = (at - 1) / 2
        }
        if at != start { place(alarm, at: at) }
    }

    private mutating func sink(_ start: Int) {
        let alarm = heap[start]
        var at = start
        while true {
            var child = 2 * at + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(alarm) else { break }
            place(heap[child], at: at)
            at = child
        }
        if at != start { place(alarm, at: at) }
    }

    private mutating func letGoOfRoom() {
        heap = []
        slots = []
        freeSlots = []
    }

    /// Because: 1,000 alarms take less than 100 KiB; the room of a busier moment is given back once
    /// nothing waits.
    private static let keptSlots = 1_000
}
