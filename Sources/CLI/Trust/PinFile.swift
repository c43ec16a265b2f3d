internal import CHTTPDNSSystem
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSPinPolicy
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Files of certificates, keys and policies, as commands read them.
enum PinFile {
    /// Because: a chain has a few thousand octets, a bundle of all roots 250 thousand.
    private static let maximumOctets = 16_777_216

    /// - Throws: ``CommandFault``: usage, with the system's reason.
    static func octets(_ path: String) throws(CommandFault) -> [UInt8] {
        guard path != "-" else {
            return try FileOctets.read(path, atMost: maximumOctets)
        }
        do throws(SmallFile.Fault) {
            return try SmallFile.whole(path, most: maximumOctets)
        } catch { throw .usage("cannot read \(quoted(path)): \(error)") }
    }

    /// - Throws: ``CommandFault``: usage, with what is wrong.
    static func keys(_ path: String) throws(CommandFault) -> [FoundKey] {
        let octets = try octets(path)
        do throws(KeyError) { return try KeyReader.keys(in: octets) } catch {
            throw .usage("\(quoted(path)): \(error)")
        }
    }

    /// The policy of `--policy`.
    ///
    /// - Throws: ``CommandFault``: usage, with line and column.
    static func policy(
        _ arguments: ParsedArguments, _ console: Console
    ) throws(CommandFault) -> PinPolicy {
        guard let path = arguments.value(.policy) else {
            throw .usage("--policy FILE is missing: the pins that clients have")
        }
        let octets = try octets(path)
        do throws(PinPolicyError) {
            let policy = try PinPolicy(octets, named: path)
            for note in policy.notes { console.note("note: \(path): \(note)") }
            return policy
        } catch { throw .usage("\(error)") }
    }

    /// Whether a word of `pins show` is meant as a file: there is one, or it looks like a path.
    ///
    /// - Parameter isConnected: somebody said where to connect. Then a word that may be a host is one,
    ///   whatever lies in the directory.
    static func isMeant(_ word: String, isConnected: Bool = false) -> Bool {
        let isThere = access(word, F_OK) == 0
        let isNamed = [".pem", ".crt", ".cer", ".der", ".pub", ".csr"].contains {
            word.hasSuffix($0)
        }
        if word == "-" || word.contains("/") { return true }
        return isConnected ? isThere && isNamed : isThere || isNamed
    }
}
