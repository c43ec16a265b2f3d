internal import HTTPDNS
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// The file of `--cookie-jar`.
enum CookieFile {
    /// The jar that is in it; an empty one when there is no such file yet.
    ///
    /// - Throws: ``CommandFault``: the file or the line at fault.
    static func read(_ path: String) throws(CommandFault) -> CookieJar {
        guard let file = try FileText.readGuardedOctets(path) else { return CookieJar() }
        do throws(CookieFileFault) { return try CookieJar(netscape: file.octets) } catch {
            throw .usage("--cookie-jar \(quoted(path)), \(error)")
        }
    }

    /// Before anything is sent, whether the jar could be kept: a request that has been answered
    /// cannot be taken back.
    ///
    /// - Throws: ``CommandFault``.
    static func checkWritable(_ path: String) throws(CommandFault) {
        do throws(FileFault) { try ReplacedFile.checkReplaceable(path) } catch {
            throw .usage("--cookie-jar: \(error)")
        }
    }

    /// Replaced as a whole or not at all: a file that cannot be written is as it was.
    ///
    /// - Throws: ``CommandFault``.
    static func write(_ jar: CookieJar, to path: String) throws(CommandFault) {
        do throws(FileFault) {
            try ReplacedFile.replace(path, with: jar.netscapeOctets)
        } catch {
            throw .usage("--cookie-jar: \(error)")
        }
    }
}
