internal import HTTPDNS
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// The file of `--cookie-jar`, which other programs and other runs of this one may use meanwhile.
struct CookieFile: Sendable {
    private let path: String
    /// What was in it when this run began.
    let start: CookieJar

    /// Reads it; there need be no such file yet. What is no cookie in it is told, and stays in it.
    ///
    /// - Throws: ``CommandFault``: it cannot be read, or could not be written: before anything is sent,
    ///   for a request that has been answered cannot be taken back.
    init(_ path: String, _ console: Console) throws(CommandFault) {
        self.path = path
        let file = try FileText.readGuardedOctets(path)
        let reading = CookieFileReading(file?.octets ?? [])
        start = reading.jar
        for fault in reading.skipped.prefix(CookieFile.toldFaults) {
            console.note("\(path):\(fault.line): \(fault.reason); not used, and left as it is")
        }
        let more = reading.skipped.count - CookieFile.toldFaults
        if more > 0 {
            console.note("\(path): \(more) more lines are not used, and left as they are")
        }
        do throws(FileFault) { try ReplacedFile.checkReplaceable(path) } catch {
            throw .usage("--cookie-jar: \(error)")
        }
    }

    /// Puts what this run has changed into what the file holds by now. It is replaced as a whole or
    /// not at all.
    ///
    /// - Throws: ``CommandFault``; then the file is as it was.
    func write(_ jar: CookieJar) throws(CommandFault) {
        do throws(FileFault) {
            try ReplacedFile.update(path, maximumOctets: FileText.maximumConfigurationOctets) {
                let reading = CookieFileReading($0)
                return reading.octets(with: jar.merged(since: start, into: reading.jar))
            }
        } catch {
            throw .usage("--cookie-jar: \(error)")
        }
    }

    /// Because: whoever reads more of a broken file reads the file.
    private static let toldFaults = 10
}
