import FoundationEssentials
import Glibc

// Build tool: embeds files as Swift string literals. Usage: OUTPUT FILE…

/// A raw multi-line literal that holds `text` unchanged, whatever quotes it has.
func literal(_ text: String) -> String {
    var marks = "#"
    while text.contains("\"\"\"" + marks) || text.contains("\\" + marks) { marks += "#" }
    return marks + "\"\"\"\n" + text + "\n\"\"\"" + marks
}

func name(of path: String) -> String {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return file.hasSuffix(".json") ? String(file.dropLast(5)) : file
}

let arguments = CommandLine.arguments
guard arguments.count >= 2 else {
    print("usage: HTTPDNSProfileEmbedder OUTPUT FILE…")
    exit(2)
}

var source = """
    // Made at build time from Resolvers/Profiles/*.json.

    enum EmbeddedProfiles {
        static let files: [(name: String, text: String)] = [

    """
for path in arguments.dropFirst(2) {
    let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    source += "(\"" + name(of: path) + "\", " + literal(text) + "),\n"
}
source += "    ]\n}\n"
try Data(source.utf8).write(to: URL(filePath: arguments[1]))
