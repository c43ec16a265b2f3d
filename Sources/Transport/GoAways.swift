internal import HTTPDNSTrust

/// What the peers of HTTP/2 connections said of the streams that they leave undone.
///
/// libcurl says it to the one handle that happened to read the frame: here it reaches all that have
/// a stream on that connection. Used on the engine's thread only.
final class GoAways {
    /// One connection's; kept by those who have a stream there.
    final class Word {
        /// Held, so that no other connection takes its place in memory.
        fileprivate let connection: any PeerFarewell
        fileprivate var users = 0
        /// The last stream that the peer may have processed; nil while it has not said.
        fileprivate(set) var lastStream: UInt32?

        fileprivate init(_ connection: any PeerFarewell) { self.connection = connection }

        /// Source: RFC 9113 §6.8: what is above was not and will not be processed.
        func leavesUndone(_ stream: UInt32?) -> Bool {
            guard let stream, let lastStream else { return false }
            return stream > lastStream
        }
    }

    private var words: [ObjectIdentifier: Word] = [:]

    /// Each call is matched by one ``leave(_:)``.
    func join(_ connection: any PeerFarewell) -> Word {
        let word = words[ObjectIdentifier(connection)] ?? Word(connection)
        words[ObjectIdentifier(connection)] = word
        word.users += 1
        return word
    }

    func leave(_ word: Word) {
        word.users -= 1
        if word.users == 0 { words[ObjectIdentifier(word.connection)] = nil }
    }

    /// A peer that goes in peace says it twice, the second time with the stream it means.
    func note(lastStream: UInt32, on connection: any PeerFarewell) {
        guard let word = words[ObjectIdentifier(connection)] else { return }
        word.lastStream = min(lastStream, word.lastStream ?? .max)
    }
}
