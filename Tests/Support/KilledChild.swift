internal import Glibc

/// Processes that work round by round, say the number of each that is whole, and are killed.
package enum KilledChild {
    /// How one ended.
    package struct End: Sendable {
        /// The last round that it said was whole.
        package let round: Int
        /// 128 and the signal.
        package let status: Int32

        package var wasKilled: Bool { status == 128 + SIGKILL }
    }

    /// Starts `TestChild VERB PLACE ROUND`, and kills it.
    ///
    /// - Parameters:
    ///   - finished: the last round of those before it; it begins with the next.
    ///   - attempt: some are killed before, some after their first rounds, and in the middle of one.
    package static func run(
        _ verb: String, _ place: String, after finished: Int, attempt: Int
    ) async throws -> End {
        let child = try ChildProcess(TestChild.path, [verb, place, String(finished + 1)])
        return try await offPool {
            var last = finished
            for _ in 0..<(attempt % 4) { last = child.readLine().flatMap { Int($0) } ?? last }
            child.awaitOutput(atMostMilliseconds: Int32(attempt * 7 % 23))
            kill(child.identifier, SIGKILL)
            while let line = child.readLine() { last = Int(line) ?? last }
            return End(round: last, status: child.awaitEnd())
        }
    }

    /// Two at once in one place, killed when each has said so many rounds; what each said besides, and
    /// nil for one that ended before.
    package static func pair(
        _ verb: String, _ place: String, rounds: Int, meanwhile: () async throws -> Void = {}
    ) async throws -> [String?] {
        let children = try [1, 1_000].map {
            try ChildProcess(TestChild.path, [verb, place, String($0)])
        }
        do { try await meanwhile() } catch {
            for child in children { kill(child.identifier, SIGKILL) }
            throw error
        }
        return try await offPool {
            let haveSaid = children.map { child in
                (0..<rounds).allSatisfy { _ in child.readLine() != nil }
            }
            for child in children { kill(child.identifier, SIGKILL) }
            return zip(children, haveSaid).map { child, hasSaid in
                child.awaitEnd()
                let errors = child.readErrors()
                return hasSaid ? errors : nil
            }
        }
    }

    /// Whether a disk of one's own can be had.
    package static func mayMount() async -> Bool {
        let tried = try? await TestSupport.run(
            "unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        return tried?.status == 0
    }

    /// On a disk of that size, which is full soon, up to a round; how it ended, and its complaints.
    package static func onSmallDisk(
        _ verb: String, _ file: String, size: String, in directory: TemporaryDirectory,
        upTo round: Int
    ) async throws -> (end: End, complaints: [String]) {
        let script =
            "mount -t tmpfs -o size=\(size) none \"$1\" && exec \"$2\" \(verb) \"$1/\(file)\" 1"
        let child = try ChildProcess(
            "unshare", ["-m", "sh", "-c", script, "sh", directory.path, TestChild.path])
        return try await offPool {
            var last = 0
            for _ in 0..<round { last = child.readLine().flatMap { Int($0) } ?? last }
            kill(child.identifier, SIGKILL)
            while child.readLine() != nil {}
            let end = End(round: last, status: child.awaitEnd())
            return (end, child.readErrors().split(separator: "\n").map { String($0) })
        }
    }
}
