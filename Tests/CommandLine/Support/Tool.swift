import Glibc
import HTTPDNSJSON
import TestSupport

/// The tool as it was built: it lies beside the test bundle.
enum Tool {
    static var path: String {
        var octets = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &octets, octets.count)
        let own = String(decoding: octets.prefix(max(count, 0)).map(UInt8.init), as: UTF8.self)
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/httpdns"
    }
}

/// Runs the tool to its end.
func httpdns(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
) async throws -> CommandResult {
    try await run(
        Tool.path, arguments, input: Array(input.utf8),
        environment: ["NO_COLOR": "", "XDG_CONFIG_HOME": "/nowhere"].merging(environment) { $1 })
}

extension CommandResult {
    /// The lines of standard output.
    var lines: [String] {
        outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { String($0) }
    }

    /// The lines of standard error.
    var complaints: [String] { errorText.split(separator: "\n").map { String($0) } }

    /// Each line of standard output, read.
    var objects: [JSONValue] {
        get throws { try lines.map { try JSONValue.parse($0) } }
    }
}

extension String {
    /// With every time that passed as `0ms`: the one thing that differs from run to run.
    var timeless: String {
        var text = ""
        var rest = self[...]
        while let character = rest.first {
            let digits = rest.prefix { $0.isNumber || $0 == "." }
            let tail = rest.dropFirst(digits.count)
            if digits.first?.isNumber == true, tail.hasPrefix("ms") {
                text += "0"
                rest = tail
            } else if digits.isEmpty {
                text.append(character)
                rest = rest.dropFirst()
            } else {
                text += digits
                rest = tail
            }
        }
        return text
    }

    /// Columns of a table one space apart.
    var squeezed: String { split(separator: " ").joined(separator: " ") }
}
