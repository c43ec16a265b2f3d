internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

extension String {
    /// Cut where it is longer than a line for people: what the network sends has any length.
    var clipped: String {
        // Because: a sentence or two; all of it is in the JSON.
        let limit = 300
        guard unicodeScalars.count > limit else { return self }
        return String(unicodeScalars.prefix(limit)) + "…"
    }
}

/// How verdicts and states are said to people, in text and on the page alike.
enum DiagnoseWords {
    /// Because: what a person still reads; all of them are in the JSON.
    static let mostAddresses = 24

    /// The verdict in a few words, without the name; with what stands behind it, where one verdict has
    /// more than one face.
    static func headline(_ judgement: Judgement) -> String {
        let codes = Set((judgement.evidenceFor + judgement.evidenceAgainst).map(\.code))
        switch judgement.verdict {
        case .originBroken where codes.contains("tls_refused"):
            return codes.contains("may_be_filtered")
                ? "broken at its origin: its servers refuse TLS with this name"
                : "broken at its origin: its servers refuse TLS, and no certificate was seen"
        case .inconclusive(let missing):
            return "undecided: "
                + missing.map { words($0, judgement) }.joined(separator: ", ")
        default: return headline(judgement.verdict)
        }
    }

    private static func words(_ missing: Verdict.Missing, _ judgement: Judgement) -> String {
        let isTrusted: Bool
        switch missing {
        case .trustedAnswer: isTrusted = true
        case .networkAnswer: isTrusted = false
        case .handshake where judgement.evidenceFor.contains { $0.code == "port_refuses" }:
            return "the port for HTTPS refuses, and another one is open"
        default: return words(missing)
        }
        let failures = judgement.sources.filter { $0.source.isSuspect != isTrusted }
            .compactMap(\.failure)
        guard !failures.isEmpty else { return words(missing) }
        let names = Set(failures).map(\.name).sorted().joined(separator: ", ")
        return isTrusted
            ? "trusted sources answer with \(names)"
            : "the sources of this network answer with \(names)"
    }

    private static func headline(_ verdict: Verdict) -> String {
        switch verdict {
        case .clean: "not hijacked"
        case .cdnVariation: "not hijacked: different servers, each of them the name's own"
        case .dnsHijacked(let source, let how):
            "hijacked in DNS: \(source.label) \(words(how))"
        case .tlsIntercepted: "intercepted: somebody else answers at the right addresses"
        case .sniFiltered: "filtered: connections that say this name are cut"
        case .addressBlocked: "unreachable: the right addresses are blocked from here, or down"
        case .captivePortal: "behind a portal: this network wants a login first"
        case .originBroken: "broken at its origin: the site's own certificate is bad"
        case .offline: "offline: nothing on this network answers"
        case .inconclusive(let missing):
            "undecided: " + missing.map(words).joined(separator: ", ")
        }
    }

    static func words(_ how: Verdict.Hijack) -> String {
        switch how {
        case .forged: "is outrun by forged answers"
        case .rewritten: "gives what is not true"
        case .intercepted: "is answered for by somebody on the path"
        case .stale: "gives what is no longer true"
        case .blocked: "hides the name"
        }
    }

    static func words(_ missing: Verdict.Missing) -> String {
        switch missing {
        case .trustedAnswer: "no trusted source answered"
        case .networkAnswer: "no source of this network gave an answer"
        case .handshake: "no address proved the name"
        case .networkProof: "what is given here does not prove the name"
        case .rightClock: "this machine's clock is wrong"
        case .time: "the time was up"
        case .nobodyAsked: "nobody was asked"
        case .interrupted: "the run was interrupted"
        case .localResources: "this machine had nothing left to ask with"
        }
    }

    static func words(_ standing: SourceJudgement.Standing) -> String {
        switch standing {
        case .honest: "honest"
        case .lies(let how): "lies: \(how.rawValue)"
        case .privateView: "knows it otherwise"
        case .unproven: "unproven"
        case .failing(let code): "fails: \(code.name)"
        case .silent: "no answer"
        }
    }

    /// With the trusted ones, which are not judged.
    static func standing(of judged: SourceJudgement) -> String {
        if judged.source.isSuspect {
            return judged.source.standing == .hosts && judged.standing == .silent
                ? "no entry" : words(judged.standing)
        }
        if let code = judged.failure { return "trusted, fails: \(code.name)" }
        return judged.standing == .silent ? "trusted, silent" : "trusted"
    }

    static func words(_ standing: AddressJudgement.Standing) -> String {
        switch standing {
        case .proven: "proves the name"
        case .impostor: "somebody else"
        case .badCertificate: "certificate gone bad"
        case .filtered: "cuts the name"
        case .mute: "no certificate"
        case .unreachable: "unreachable"
        case .impossible: "no host there"
        case .untried: "not tried"
        }
    }

    static func words(_ state: LayerLine.State) -> String {
        switch state {
        case .good: "good"
        case .bad: "BAD"
        case .unclear: "unclear"
        case .notTried: "not tried"
        }
    }

    static func words(_ remedy: Advice.Remedy) -> String {
        switch remedy {
        case .helps: "helps"
        case .doesNotHelp: "does not help"
        case .notNeeded: "not needed"
        }
    }

    /// One answer: what was said, or why nothing was.
    static func words(_ answer: AnswerEvidence) -> String {
        switch answer.result {
        case .failure(.notCovered): return "no entry"
        case .failure(let failure): return failure.description.clipped
        case .success(let statement): return words(statement)
        }
    }

    static func words(_ statement: Statement) -> String {
        var words =
            statement.addresses.isEmpty
            ? (statement.code == .noError ? "no address" : statement.code.name)
            : statement.addresses.prefix(6).map(\.description).joined(separator: ", ")
                + (statement.addresses.count > 6 ? ", …" : "")
        if !statement.aliases.isEmpty {
            words += " by way of "
            words += statement.aliases.map(\.description).joined(separator: ", ").clipped
        }
        if statement.isAuthenticData { words += " (AD)" }
        return words + statement.extendedErrors.map { "; " + $0.shown }.joined()
    }

    static func words(_ vacant: VacantPortEvidence) -> String {
        "\(vacant.place), a port where that name server does no DNS: "
            + (vacant.statement.map(words) ?? "no answer, as it should be")
    }

    static func words(_ routes: RouteEvidence) -> String {
        let families = [routes.hasIPv4 ? "IPv4" : nil, routes.hasIPv6 ? "IPv6" : nil]
            .compactMap(\.self)
        return families.isEmpty
            ? "no route to anywhere" : "a route for " + families.joined(separator: " and ")
    }

    /// What a network says of how it translates IPv4.
    static func words(_ translation: TranslationEvidence) -> String {
        if case .failure(let failure) = translation.result { return failure.description.clipped }
        return translation.prefixes.isEmpty
            ? "IPv4 is not translated"
            : "IPv4 is translated under "
                + translation.prefixes.prefix(4).map(\.description).joined(separator: ", ")
    }

    /// What came of a handshake.
    static func words(_ handshake: Handshake?) -> String {
        switch handshake {
        case nil: "–"
        case .proven(_, let version): "proven (\(version))"
        case .untrusted(let failure): failure.label
        case .cut(.reset): "reset"
        case .cut(.closed): "closed"
        case .cut(.refused(let why)): "refused: \(why.clipped)"
        case .timedOut: "no answer in time"
        }
    }

    static func words(_ connection: PeerEvidence.Connection) -> String {
        switch connection {
        case .connected: "connected"
        case .failed(_, let why): why
        case .timedOut: "no connection in time"
        case .notDialled(let why): "not dialled: \(why)"
        }
    }
}
