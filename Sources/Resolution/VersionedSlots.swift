internal import HTTPDNSPlatform
internal import Synchronization

/// Rows of words that any thread reads without a lock and without writing, while one at a time
/// writes.
///
/// Each row has a version, odd while it is being written (a sequence lock):
///
///     reader: version, even ── words ── fence ── version, the same as before
///     writer: version + 1 ── fence ── words ── version + 2
///
/// A reader that finds another version may have seen parts of two contents: it forgets what it read,
/// and goes the way with the lock; it never waits. Writers of one row must exclude each other: they
/// hold the lock of what the row is a copy of. All words are atomic, so there is no race; fence and
/// version give the order. Source: Boehm, "Can seqlocks get along with programming language memory
/// models?", MSPC 2012.
///
/// They live in memory that somebody else owns: holding it here would count a reference to it with
/// every read, and that is a write.
struct VersionedSlots: @unchecked Sendable {
    // Safety: the words are atomic, and the pointer never changes.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    let count: Int

    /// Because: two lines of a processor's cache, which are fetched together.
    static let wordsInSlot = 16
    static let slotOctets = wordsInSlot * 8

    /// - Parameter memory: all zero, of so many rows, and held as long as they are used.
    init(count: Int, in memory: ZeroedMemory) {
        self.count = count
        // Of an atomic word zero is a value like any other, and none has anything to destroy.
        words = memory.start.bindMemory(
            to: Atomic<UInt64>.self, capacity: count * VersionedSlots.wordsInSlot)
    }

    /// The row at a position below ``count``, of which the first word is the version and the others are
    /// the caller's.
    @inline(__always)
    subscript(position: Int) -> Slot {
        precondition(position >= 0 && position < count, "no such slot")
        return Slot(words: words + position &* VersionedSlots.wordsInSlot)
    }

    /// One row.
    struct Slot {
        fileprivate let words: UnsafeMutablePointer<Atomic<UInt64>>

        /// Before the first word is read; odd: it is being written.
        @inline(__always)
        var version: UInt64 { words[0].load(ordering: .acquiring) }

        /// A word from 1 to the last. Good only when ``isStill(_:)`` says so afterwards, or to the
        /// writer.
        @inline(__always)
        subscript(index: Int) -> UInt64 {
            assert(index > 0 && index < VersionedSlots.wordsInSlot)
            return words[index].load(ordering: .relaxed)
        }

        /// After the last word: whether all that were read since ``version`` was are of one content.
        @inline(__always)
        func isStill(_ version: UInt64) -> Bool {
            atomicMemoryFence(ordering: .acquiring)
            return version & 1 == 0 && words[0].load(ordering: .relaxed) == version
        }

        /// Writes words, of which ``Writer`` takes one after the other.
        func write(_ body: (Writer) -> Void) {
            let version = words[0].load(ordering: .relaxed)
            words[0].store(version &+ 1, ordering: .relaxed)
            atomicMemoryFence(ordering: .releasing)
            body(Writer(words: words))
            words[0].store(version &+ 2, ordering: .releasing)
        }
    }

    /// Good only inside the closure that received it.
    struct Writer {
        fileprivate let words: UnsafeMutablePointer<Atomic<UInt64>>

        /// A word from 1 to the last.
        func set(_ index: Int, to word: UInt64) {
            precondition(index > 0 && index < VersionedSlots.wordsInSlot, "no such word")
            words[index].store(word, ordering: .relaxed)
        }
    }
}
