public import HTTPDNSNames
public import HTTPDNSWire

/// A verdict with its reasons.
public struct Judgement: Sendable, Hashable {
    public var verdict: Verdict
    public var confidence: Confidence
    /// What speaks for the verdict.
    public var evidenceFor: [Finding]
    /// What speaks against it, or has another explanation.
    public var evidenceAgainst: [Finding]
    /// What else was found and decides nothing.
    public var notes: [Finding]
    public var advice: [Advice]
    /// One line a layer, from the name to the page.
    public var layers: [LayerLine]
    /// Each source, in the order of ``Evidence/sources``.
    public var sources: [SourceJudgement]
    /// Each address that some source gave, in the order first seen.
    public var addresses: [AddressJudgement]
}

/// One thing that was found. The words may hold what the network sent: make them printable.
public struct Finding: Sendable, Hashable {
    /// A bounded label, safe in metrics and JSON: `forged_race`.
    public let code: String
    public let text: String

    /// A longer text is cut: what the network sends has any length.
    public init(_ code: String, _ text: String) {
        self.code = code
        let scalars = text.unicodeScalars
        self.text =
            scalars.count > Finding.longest ? String(scalars.prefix(Finding.longest)) + "…" : text
    }

    /// Because: a sentence with a few names in it; more is for the evidence.
    private static let longest = 800
}

/// What to do.
public struct Advice: Sendable, Hashable {
    /// Whether resolving by HTTPDNS, DoH or DoT changes the matter.
    public enum Remedy: String, Sendable, Hashable {
        case helps
        case doesNotHelp = "does_not_help"
        /// It has nothing to do with it.
        case notNeeded = "not_needed"
    }

    public let remedy: Remedy
    public let text: String

    public init(_ remedy: Remedy, _ text: String) {
        self.remedy = remedy
        self.text = text
    }
}

/// What was found at one layer, in one line.
public struct LayerLine: Sendable, Hashable {
    /// From the lowest to the highest; the raw value is the JSON spelling.
    public enum Layer: String, Sendable, Hashable, CaseIterable {
        case network, dns, address, tls, http, clock
    }

    /// Never told by colour alone: the word goes along.
    public enum State: String, Sendable, Hashable {
        case good, bad, unclear
        case notTried = "not_tried"
    }

    public let layer: Layer
    public let state: State
    public let text: String

    public init(_ layer: Layer, _ state: State, _ text: String) {
        self.layer = layer
        self.state = state
        self.text = text
    }
}

/// What is to be thought of one source.
public struct SourceJudgement: Sendable, Hashable {
    /// The kinds of source.
    public enum Standing: Sendable, Hashable {
        /// What it gives proves the name, or is what a trusted source says.
        case honest
        case lies(Verdict.Hijack)
        /// It knows the name otherwise, as a network may for its own names.
        case privateView
        /// Nothing proves or disproves it.
        case unproven
        /// It answers, and with this failure: it says neither that there is something nor that there
        /// is nothing.
        case failing(ResponseCode)
        /// It gave no usable answer.
        case silent
    }

    public let source: EvidenceSource
    public let standing: Standing
    public let confidence: Confidence
    public let reasons: [Finding]

    /// What it answers, where that is a failure.
    public var failure: ResponseCode? {
        if case .failing(let code) = standing { code } else { nil }
    }
}

/// What is to be thought of one address.
public struct AddressJudgement: Sendable, Hashable {
    /// What was found there.
    public enum Standing: String, Sendable, Hashable {
        /// It proves the name.
        case proven
        /// Somebody else is there.
        case impostor
        /// It is the name's server by its certificate, which is bad: ended, or not begun.
        case badCertificate = "bad_certificate"
        /// It cuts the handshake with the name, and only that.
        case filtered
        /// It takes connections, and shows no certificate.
        case mute
        case unreachable
        /// No public host can be there.
        case impossible
        case untried
    }

    public let address: IPAddress
    public let standing: Standing
    /// The labels of the sources that gave it.
    public let givenBy: [String]
}

/// The outcome of a run: what was found out, and what it means.
public struct Diagnosis: Sendable, Hashable {
    public let evidence: Evidence
    public let judgement: Judgement

    public init(evidence: Evidence, judgement: Judgement) {
        self.evidence = evidence
        self.judgement = judgement
    }

    /// What it comes down to.
    public var verdict: Verdict { judgement.verdict }
}

/// What happens during a run, as it happens: a case for each kind of evidence.
public enum DiagnosisEvent: Sendable {
    case started([EvidenceSource])
    case answered(AnswerEvidence)
    case raced(RaceEvidence)
    case asked(RandomNameEvidence)
    case listened(DarkEvidence)
    case knocked(VacantPortEvidence)
    case identified(IdentityEvidence)
    case met(PeerEvidence)
    case fetched(FetchEvidence)
    case timed(TimeEvidence)
    case routed(RouteEvidence)
    case translated(TranslationEvidence)
    case judged(Judgement)
}
