internal import CHTTPDNSSystem
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// A program as a client: `curl --cacert {cacert} --resolve {host}:{port}:{ip} {url}`.
///
/// It is run once for each hijack, in its last step, without a shell and without a variable that names a
/// proxy. It is content when its exit code is 0, with what it wrote.
public struct HijackCommand: HijackClient {
    /// The program and its arguments, with placeholders.
    public let words: [String]
    /// The file with the root that is to be trusted.
    public let authorityFile: String
    /// How long one run may take.
    public var timeoutMilliseconds: Int64 = 10_000
    /// Where configuration files are put for one run each; nil: `{config}` is not filled in.
    public var folder: String?
    private let threads = ThreadGroup()
    private let stop: StopSignal

    /// What may stand in the words, and what it becomes.
    public static let placeholders: [(name: String, meaning: String)] = [
        ("{url}", "https://plain-poisoning.hijack.test:40123/"),
        ("{host}", "the name in the URL"),
        ("{port}", "the port in the URL"),
        ("{ip}", "what the network's resolver says the name stands for, with commas"),
        ("{resolver}", "the network's resolver, which may lie: 127.77.3.5:40124"),
        ("{resolverip}", "its address"),
        ("{resolverport}", "its port, over UDP and TCP"),
        ("{trusted}", "a resolver that proves itself: https://127.77.3.4:40125/dns-query"),
        ("{config}", "a file for httpdns --config: {trusted}, then the network's resolvers"),
        ("{cacert}", "a file with the one root to trust, PEM"),
    ]

    /// - Parameters:
    ///   - words: The program, found on PATH, and its arguments.
    ///   - authorityFile: Where ``HijackLab/authorityPEM`` was written.
    /// - Throws: ``LabError`` when the system is short of descriptors.
    public init(_ words: [String], authorityFile: String) throws(LabError) {
        self.words = words
        self.authorityFile = authorityFile
        stop = try StopSignal()
    }

    /// Whether it says where to go.
    public var namesTarget: Bool { has("{url}") || has("{host}") }

    /// Whether it says whom to ask or how to get there: the names are in no DNS.
    public var namesRoute: Bool {
        ["{ip}", "{resolver}", "{resolverip}", "{trusted}", "{config}"].contains(where: has)
    }

    /// Words in braces that are no placeholders, and look like it.
    public var unknownPlaceholders: [String] {
        let known = HijackCommand.placeholders.map(\.name)
        return words.flatMap(LabCommand.braced).filter { !known.contains($0) }
    }

    /// The file of a hijack in ``folder``.
    public static func configurationFile(of scenario: HijackScenario) -> String {
        scenario.name + ".json"
    }

    /// Why the hijack would say nothing about this program; nil: it is to be played.
    public func excuse(for scenario: HijackScenario) -> String? {
        if scenario.traits.contains(.leadsOut) {
            return "what is told leads out of this machine, and who knows whether the command goes"
        }
        let asksNetwork = has("{resolver}") || has("{resolverip}") || has("{config}")
        if scenario.traits.contains(.meetsNobody), !asksNetwork, !asksTrusted {
            return "it is told addresses, and there is nobody at those that it would be told"
        }
        guard scenario.layer == .service, !has("{ip}"), !asksTrusted else { return nil }
        return "it asks DNS, not an HTTP-DNS service; {ip} is what that would have said"
    }

    /// Runs the program once.
    public func play(_ stage: HijackStage) -> HijackPlay {
        var play = HijackPlay([])
        play.isOnce = true
        do throws(LabError) {
            let step = stage.lastStep(trusted: asksTrusted)
            play.firstStep = step
            try stage.begin(step)
            let target = stage.target(of: stage.steps[step])
            let configuration = try configuration(target, stage.scenario)
            defer { if let configuration { unlink(configuration) } }
            let child = LabChild(
                words: filled(target, configuration: configuration),
                environment: LabCommand.environment(),
                timeoutMilliseconds: stage.scenario.isStall
                    ? min(timeoutMilliseconds, HijackCommand.stallMilliseconds)
                    : timeoutMilliseconds)
            let ended = try child.run(threads, stop: stop)
            play.exitCode = ended.isTimedOut ? nil : ended.exitCode
            play.output = String(decoding: ended.output, as: UTF8.self)
            play.milliseconds = ended.milliseconds
            play.outcomes = [
                ended.isTimedOut
                    ? .timedOut
                    : ended.exitCode == 0 ? .content(play.output) : .refused(word(ended.exitCode))
            ]
        } catch { play.trouble = "\(error)" }
        return play
    }

    /// Source: sh(1): 128 and the number of the signal that ended it.
    private func word(_ exitCode: Int32) -> String {
        exitCode > 128 && exitCode < 160
            ? LabGrade.crash + "\(exitCode - 128)" : "exit \(exitCode)"
    }

    /// The words with every placeholder filled in; what else stands in braces stays.
    func filled(_ target: HijackTarget, configuration: String? = nil) -> [String] {
        let resolver = target.resolvers.first
        let told = target.told.isEmpty ? [LabAddress.none] : target.told
        var values = ["{url}": target.url, "{host}": target.host, "{port}": "\(target.port)"]
        values["{ip}"] = told.map(\.uriText).joined(separator: ",")
        values["{resolver}"] = resolver?.text ?? ""
        values["{resolverip}"] = resolver.map { "\($0.address)" } ?? ""
        values["{resolverport}"] = resolver.map { "\($0.port)" } ?? ""
        values["{trusted}"] = target.trusted.first?.text ?? ""
        values["{cacert}"] = authorityFile
        values["{config}"] = configuration ?? ""
        return words.map { LabCommand.filled($0, values) }
    }

    /// Written for one run; its owner alone may read it.
    private func configuration(
        _ target: HijackTarget, _ scenario: HijackScenario
    ) throws(LabError) -> String? {
        guard has("{config}"), let folder else { return nil }
        let path = folder + "/" + HijackCommand.configurationFile(of: scenario)
        do throws(FileFault) {
            try ReplacedFile.replace(
                path, with: Array(target.configuration(authorityFile: authorityFile).utf8))
        } catch { throw .notWritten(path: path, code: 0) }
        return path
    }

    private var asksTrusted: Bool { has("{trusted}") || has("{config}") }

    private func has(_ placeholder: String) -> Bool {
        words.contains { $0.contains(placeholder) }
    }

    /// How long a client is watched that waits for what never comes.
    ///
    /// Because: one that would go on without a proof does so at once; one that hangs hangs longer.
    private static let stallMilliseconds: Int64 = 3_000
}

extension LabAddress {
    /// What clients are told that are told addresses, where a resolver tells none: nobody is there.
    static var none: IPAddress { ipv4(host: 254) }
}
