import HTTPDNSJSON
import TestSupport

/// The tool as it was built, away from configurations of this machine.
enum CaptureTool {
    static func run(_ arguments: [String]) async throws -> CommandResult {
        try await TestSupport.run(ProxyTool.path, arguments, environment: ProxyTool.quiet)
    }

    static func run(_ arguments: String...) async throws -> CommandResult {
        try await run(arguments)
    }
}

extension CommandResult {
    /// What stands on standard output, a JSON text a line.
    var documents: [JSONValue] {
        get throws {
            try outputText.split(separator: "\n").map { try JSONValue.parse(String($0)) }
        }
    }
}
