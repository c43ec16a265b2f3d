internal import HTTPDNSCapture
public import HTTPDNSClient
public import HTTPDNSRuleFile
internal import HTTPDNSRules

extension LiveRules {
    /// The rules of a file; see docs/rules.md.
    ///
    /// - Parameter file: its path; paths in it are relative to its directory.
    /// - Throws: ``RuleFileFault``: where, what is wrong, and what was expected.
    public convenience init(
        file: String, switches: ToolboxSwitches = ToolboxSwitches()
    ) throws(RuleFileFault) {
        self.init(
            try RuleFile(path: file, recordings: .captures).rules, switches: switches)
    }

    /// Replaces the rules by those of a file; those before stay where it cannot be read.
    ///
    /// - Throws: ``RuleFileFault``.
    public func load(file: String) throws(RuleFileFault) {
        rules = try RuleFile(path: file, recordings: .captures).rules
    }
}

extension RuleFile.Recordings {
    /// HAR files and captures are read; captures are written.
    public static let captures = RuleFile.Recordings(
        read: { (path) throws(RuleFault) in try FixtureLibrary(file: path) },
        record: { (recording) throws(RuleFault) in
            FixtureRecorder(
                capture: recording.path, maximumBodyOctets: recording.maximumBodyOctets)
        })
}
