import Foundation
import TestSupport
import Testing

/// Ends that meet while a task begins.
@Suite(.timeLimit(.minutes(2))) struct SessionStartTests {
    @Test func `async calls that fail as they begin and are cancelled meanwhile all end`()
        async throws
    {
        let child = try ChildProcess(TestChild.path, ["storm", "4000"])
        let said = try await offPool {
            // All sessions of a process share the queue that would stand still.
            child.awaitOutput(atMostMilliseconds: 90_000)
            kill(child.identifier, SIGKILL)
            // One that nobody waits for would hide the ends of others: of exit tests, say.
            defer { child.awaitEnd() }
            return child.readLine()
        }
        #expect(said == "4000")
    }
}
