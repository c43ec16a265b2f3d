internal import CHTTPDNSSystem
internal import HTTPDNSNames

/// Looks at the words of a command that is to be graded, before it is run.
struct ProgramWords {
    let console: Console

    /// A placeholder that is mistyped would reach the program as it is, and grade it on that; but a word
    /// in braces may as well be of another language, `awk "{print}"`.
    ///
    /// - Throws: ``CommandFault``.
    func refuseSlips(_ unknown: [String], known: [String]) throws(CommandFault) {
        let bare = { (name: String) in String(name.dropFirst().dropLast()) }
        for unknown in unknown {
            guard let near = Nearest.word(to: bare(unknown), in: known.map(bare)) else {
                console.note("\(unknown) is no placeholder; the program gets it as it is")
                continue
            }
            throw .usage(
                "\(unknown.printable) is no placeholder; did you mean {\(near)}? There are "
                    + known.joined(separator: " "))
        }
    }

    /// - Throws: ``CommandFault`` where there is nothing to run.
    func requireProgram(_ word: String) throws(CommandFault) {
        guard isProgram(word) else {
            throw .usage(
                "cannot run \(quoted(word)): there is no such program"
                    + (word.contains("/") ? "" : " on PATH"))
        }
    }

    /// Whether there is something to run, as execvp looks for it.
    private func isProgram(_ word: String) -> Bool {
        // A placeholder is filled in later.
        if word.contains("/") || word.contains("{") {
            return word.contains("{") || ProgramWords.isExecutable(word)
        }
        let path = console.variable("PATH") ?? "/bin:/usr/bin"
        return path.split(separator: ":", omittingEmptySubsequences: false).contains { folder in
            ProgramWords.isExecutable((folder.isEmpty ? "." : folder) + "/" + word)
        }
    }

    private static func isExecutable(_ path: String) -> Bool {
        // A directory can be executed, too, but not run.
        access(path, X_OK) == 0 && access(path + "/.", F_OK) != 0
    }
}
