internal import CHTTPDNSSystem

/// Memory that is all zero at first and given back with the last reference.
///
/// What is never touched costs nothing: the system gives pages of a large block when they are
/// first used.
package final class ZeroedMemory: @unchecked Sendable {
    // Safety: the pointers never change; who shares what they point to has to see to it himself.
    private let block: UnsafeMutableRawPointer
    /// Begins at a multiple of the alignment.
    package let start: UnsafeMutableRawPointer

    /// - Parameter alignment: a power of two.
    /// - Returns: nil when there is not so much.
    package init?(octets: Int, alignment: Int) {
        guard octets >= 0, let block = calloc(1, octets + alignment) else { return nil }
        self.block = block
        let past = Int(bitPattern: block) & (alignment - 1)
        start = block + (alignment - past) & (alignment - 1)
    }

    deinit { free(block) }
}
