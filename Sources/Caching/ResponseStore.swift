package import HTTPDNSExchange

/// Keeps responses and their bodies. No call waits for a disk, none fails for one: what cannot be
/// kept is not kept, and what cannot be found is not there. Calls are obeyed in the order in which
/// they come.
package protocol ResponseStore: AnyObject, Sendable {
    /// Finds what is kept under a URL and opens the body of the one chosen.
    ///
    /// - Parameters:
    ///   - key: the URL.
    ///   - choose: is given all variants; called again without one whose body turned out to be
    ///     gone.
    ///   - found: called once, on a thread of the store, or at once.
    func find(
        _ key: CacheKey, choosing choose: @escaping @Sendable ([KeptResponse]) -> KeptResponse?,
        _ found: @escaping @Sendable (FoundResponse?) -> Void)

    /// Begins to keep a response; it is there once its body has been finished.
    ///
    /// - Parameter hasRoom: called after ``Flow/pause``, when more of the body can be taken.
    func keep(
        _ response: KeptResponse, hasRoom: @escaping @Sendable () -> Void
    ) -> any BodyKeeping

    /// Replaces the heads of those chosen by what `change` makes of each; nil removes it. Whoever
    /// asks afterwards finds them so.
    func revise(
        _ key: CacheKey, choosing choose: @escaping @Sendable ([KeptResponse]) -> [KeptResponse],
        _ change: @escaping @Sendable (KeptResponse) -> KeptResponse?)

    /// Replaces the head of what is kept already.
    func update(_ response: KeptResponse)

    func remove(_ response: KeptResponse)

    /// Removes all variants of URLs, what has begun to be kept and is not whole among them.
    func remove(_ keys: [CacheKey])

    /// Removes everything, what has begun to be kept and is not whole too.
    func removeAll()

    /// Returns when all that was asked before is done.
    func flush() async
}

/// What a store found.
package struct FoundResponse: Sendable {
    package let response: KeptResponse
    package let body: any KeptBody

    package init(response: KeptResponse, body: any KeptBody) {
        self.response = response
        self.body = body
    }
}

/// The body of a response that is being kept. Calls come one at a time; one that is let go of
/// unfinished is not kept.
package protocol BodyKeeping: AnyObject, Sendable {
    /// After `.pause` nothing more should come until there is room.
    func write(_ octets: UnsafeRawBufferPointer) -> Flow
    /// All of it came.
    func finish()
    /// It will not be whole.
    func abandon()
}

/// The body of a kept response, open: it stays whole whatever becomes of the store.
package protocol KeptBody: AnyObject, Sendable {
    /// Gives out the body from its beginning, on a thread of the store; once.
    ///
    /// - Parameters:
    ///   - take: is given pieces, never empty; after `.pause` none until ``resume()``.
    ///   - end: called once, last, on the same thread.
    func pour(
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) -> Flow,
        _ end: @escaping @Sendable (PourEnd) -> Void)

    func resume()

    /// Gives out nothing more; the end comes soon, as ``PourEnd/cancelled`` unless it had come.
    func cancel()
}

/// How the giving out of a kept body ended.
package enum PourEnd: Sendable, Hashable {
    case whole
    /// The file is not what was written; the text says how.
    case broken(String)
    case cancelled
}
