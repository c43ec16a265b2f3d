internal import FoundationEssentials

/// A server that `scripts/servers run` started; it ends when this goes, or when the process does.
final class RealServer<Description: Decodable & Sendable>: Sendable {
    let directory: TemporaryDirectory
    let description: Description
    private let child: ChildProcess

    /// Starts the server in a directory that holds what the script is to find.
    init(_ kind: String, in directory: TemporaryDirectory) throws {
        self.directory = directory
        child = try ChildProcess(
            "bash", [RealServer.script, "run", kind, directory.path, "--remove"])
        guard let line = child.readLine() else {
            child.closeInput()
            let reason = child.readErrors()
            throw CommandError(description: "\(kind) did not start: \(reason)")
        }
        description = try JSONDecoder().decode(Description.self, from: Data(line.utf8))
    }

    deinit {
        child.closeInput()
        child.awaitEnd()
    }

    private static var script: String {
        // Tests/Support/RealServer.swift lies three levels below the top.
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/") + "/scripts/servers"
    }
}
