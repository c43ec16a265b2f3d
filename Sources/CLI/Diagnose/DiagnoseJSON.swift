internal import HTTPDNSDiagnosis
internal import HTTPDNSIDNA
internal import HTTPDNSJSON
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTrust
internal import HTTPDNSWire

/// A diagnosis as one object: the same keys whatever the verdict. Pure.
struct DiagnoseJSON {
    let showsRaw: Bool

    /// Every key of the object, with what stands there when nothing is known.
    private static let empty: JSONObject = [
        "name": .null, "unicodeName": .null, "verdict": .null, "source": .null, "how": .null,
        "missing": [], "confidence": .null, "summary": .null, "for": [], "against": [],
        "notes": [], "advice": [], "layers": [], "sources": [], "addresses": [],
        "evidence": .null, "unfinished": [], "skipped": [], "time": .null, "milliseconds": 0,
        "error": .null,
    ]

    /// The object of a command that could not begin.
    static func failure(_ name: String?, _ fault: CommandFault) -> JSONValue {
        var object = empty
        object["name"] = VerdictRendering.text(name)
        object["error"] = ["code": "usage", "message": .string(fault.message)]
        return .object(object)
    }

    func value(_ diagnosis: Diagnosis) -> JSONValue {
        let (evidence, judgement) = (diagnosis.evidence, diagnosis.judgement)
        var object = DiagnoseJSON.empty
        object["name"] = .string(evidence.name.text)
        object["unicodeName"] = .string(IDNA.toUnicode(evidence.name))
        object["verdict"] = .string(judgement.verdict.label)
        if case .dnsHijacked(let source, let how) = judgement.verdict {
            object["source"] = .string(source.label)
            object["how"] = .string(how.rawValue)
        }
        if case .inconclusive(let missing) = judgement.verdict {
            object["missing"] = .array(missing.map { .string($0.rawValue) })
        }
        object["confidence"] = .string(judgement.confidence.rawValue)
        object["summary"] = .string(DiagnoseWords.headline(judgement))
        object["for"] = .array(judgement.evidenceFor.map(json))
        object["against"] = .array(judgement.evidenceAgainst.map(json))
        object["notes"] = .array(judgement.notes.map(json))
        object["advice"] = .array(
            judgement.advice.map {
                ["remedy": .string($0.remedy.rawValue), "text": .string($0.text)]
            })
        object["layers"] = .array(
            judgement.layers.map {
                [
                    "layer": .string($0.layer.rawValue), "state": .string($0.state.rawValue),
                    "text": .string($0.text),
                ]
            })
        object["sources"] = .array(judgement.sources.map(json))
        object["addresses"] = .array(judgement.addresses.map(json))
        object["evidence"] = json(evidence)
        object["unfinished"] = .array(evidence.unfinished.map { .string($0) })
        object["skipped"] = .array(evidence.skipped.map { .string($0) })
        object["time"] = .string(evidence.now.iso8601)
        object["milliseconds"] = .integer(evidence.tookMilliseconds)
        return .object(object)
    }

    // MARK: Judgements

    private func json(_ finding: Finding) -> JSONValue {
        ["code": .string(finding.code), "text": .string(finding.text)]
    }

    private func json(_ judged: SourceJudgement) -> JSONValue {
        var how: String?
        if case .lies(let kind) = judged.standing { how = kind.rawValue }
        return [
            "source": .string(judged.source.label),
            "standing": .string(judged.source.standing.rawValue),
            "transport": .string(judged.source.transport.rawValue),
            "alternateOf": VerdictRendering.text(judged.source.alternateOf?.description),
            "judged": .string(DiagnoseJSON.label(judged.standing)),
            "how": VerdictRendering.text(how),
            "confidence": .string(judged.confidence.rawValue),
            "reasons": .array(judged.reasons.map(json)),
        ]
    }

    private static func label(_ standing: SourceJudgement.Standing) -> String {
        switch standing {
        case .honest: "honest"
        case .lies: "lies"
        case .privateView: "private_view"
        case .unproven: "unproven"
        case .failing: "failing"
        case .silent: "silent"
        }
    }

    private func json(_ judged: AddressJudgement) -> JSONValue {
        [
            "address": .string(judged.address.description),
            "judged": .string(judged.standing.rawValue),
            "givenBy": .array(judged.givenBy.map { .string($0) }),
        ]
    }

    // MARK: Evidence

    private func json(_ evidence: Evidence) -> JSONValue {
        [
            "answers": .array(evidence.answers.map(json)),
            "races": .array(evidence.races.map(json)),
            "randomNames": .array(
                evidence.randomNames.map { probe in
                    var object = json(probe.answer).object ?? [:]
                    object["parent"] = .string(probe.parent.rawValue)
                    return .object(object)
                }),
            "dark": evidence.dark.map(json) ?? .null,
            "vacantPorts": .array(evidence.vacantPorts.map(json)),
            "identities": .array(
                evidence.identities.map {
                    var object: JSONObject = [
                        "source": .string($0.source.label), "probe": .string($0.probe),
                        "texts": .array($0.texts.map { .string($0) }), "at": at($0.seen),
                    ]
                    add($0.raw, to: &object)
                    return .object(object)
                }),
            "peers": .array(evidence.peers.map(json)),
            "fetches": .array(evidence.fetches.map(json)),
            "times": .array(evidence.times.map(json)),
            "network": json(evidence.network),
            "shortages": .array(evidence.shortages.map { .string($0) }),
        ]
    }

    private func at(_ seen: Sighting) -> JSONValue { .integer(seen.atMilliseconds) }

    private func json(_ statement: Statement) -> JSONObject {
        [
            "status": .string(statement.code.name),
            "addresses": .array(statement.addresses.map { .string($0.description) }),
            "aliases": .array(statement.aliases.map { .string($0.description) }),
            "ttl": statement.ttlSeconds.map { .integer(Int64($0)) } ?? .null,
            "authenticData": .bool(statement.isAuthenticData),
            "ede": .array(
                statement.extendedErrors.map {
                    [
                        "code": .integer(Int64($0.code)), "name": VerdictRendering.text($0.name),
                        "text": .string($0.text),
                    ]
                }),
        ]
    }

    private func json(_ answer: AnswerEvidence) -> JSONValue {
        var object = answer.statement.map(json) ?? json(Statement())
        if answer.statement == nil { object["status"] = .null }
        object["source"] = .string(answer.source.label)
        object["name"] = .string(answer.name.text)
        object["type"] = .string(answer.type.name)
        object["error"] = .null
        if case .failure(let failure) = answer.result { object["error"] = json(failure) }
        object["at"] = at(answer.seen)
        object["milliseconds"] = .integer(answer.seen.tookMilliseconds)
        guard showsRaw else { return .object(object) }
        object["raw"] = VerdictRendering.text(answer.raw.map { Hex.encoded($0.octets) })
        object["rawForm"] = VerdictRendering.text(answer.raw?.form.rawValue)
        object["rawOctets"] = answer.raw.map { .integer(Int64($0.wholeOctets)) } ?? .null
        return .object(object)
    }

    /// Messages of what may have several.
    private func add(_ raw: [RawReply], to object: inout JSONObject) {
        guard showsRaw else { return }
        object["raw"] = .array(raw.map { .string(Hex.encoded($0.octets)) })
        object["rawForm"] = .array(raw.map { .string($0.form.rawValue) })
        object["rawOctets"] = .array(raw.map { .integer(Int64($0.wholeOctets)) })
    }

    private func json(_ told: TimeEvidence) -> JSONValue {
        [
            "source": .string(told.teller), "form": .string(told.form.rawValue),
            "proven": .bool(told.isProven), "time": .string(told.time.iso8601),
            "skewSeconds": .integer(told.skewSeconds), "at": at(told.seen),
        ]
    }

    private func json(_ race: RaceEvidence) -> JSONValue {
        var object: JSONObject = [
            "source": .string(race.source.label), "type": .string(race.type.name),
            "first": .object(json(race.first)), "second": .object(json(race.second)),
            "millisecondsApart": .integer(race.millisecondsApart), "at": at(race.seen),
        ]
        add(race.raw, to: &object)
        return .object(object)
    }

    private func json(_ dark: DarkEvidence) -> JSONValue {
        var object: JSONObject = [
            "address": .string(dark.address.description),
            "answer": dark.statement.map { .object(json($0)) } ?? .null, "at": at(dark.seen),
        ]
        add(dark.raw.map { [$0] } ?? [], to: &object)
        return .object(object)
    }

    private func json(_ vacant: VacantPortEvidence) -> JSONValue {
        var object: JSONObject = [
            "server": .string(vacant.server.description),
            "place": .string(vacant.place.description),
            "answer": vacant.statement.map { .object(json($0)) } ?? .null, "at": at(vacant.seen),
        ]
        add(vacant.raw.map { [$0] } ?? [], to: &object)
        return .object(object)
    }

    private func json(_ peer: PeerEvidence) -> JSONValue {
        var object = json(peer.connection, port: peer.port)
        object["address"] = .string(peer.address.description)
        object["withName"] = json(peer.real)
        object["withoutName"] = json(peer.withoutName)
        object["withOtherName"] = json(peer.otherName)
        object["otherPort"] =
            peer.otherPort.map { .object(json($0.connection, port: $0.port)) } ?? .null
        object["at"] = at(peer.seen)
        object["milliseconds"] = .integer(peer.seen.tookMilliseconds)
        return .object(object)
    }

    private func json(_ made: PeerEvidence.Connection, port: Port) -> JSONObject {
        let connection: String
        var obstacle: String?
        var detail: String?
        switch made {
        case .connected: connection = "connected"
        case .timedOut: connection = "timed_out"
        case .failed(let kind, let why):
            (connection, obstacle, detail) = ("failed", kind.rawValue, why)
        case .notDialled(let why): (connection, detail) = ("not_dialled", why)
        }
        return [
            "port": .integer(Int64(port.number)), "connection": .string(connection),
            "obstacle": VerdictRendering.text(obstacle), "detail": VerdictRendering.text(detail),
        ]
    }

    private func json(_ handshake: Handshake?) -> JSONValue {
        guard let handshake else { return .null }
        let outcome: String
        var detail: String?
        switch handshake {
        case .proven(_, let version): (outcome, detail) = ("proven", version)
        case .untrusted(let failure): (outcome, detail) = ("untrusted", failure.label)
        case .cut(.reset): outcome = "reset"
        case .cut(.closed): outcome = "closed"
        case .cut(.refused(let why)): (outcome, detail) = ("refused", why)
        case .timedOut: outcome = "timed_out"
        }
        return [
            "outcome": .string(outcome), "detail": VerdictRendering.text(detail),
            "chain": .array(handshake.chain.map(json)),
        ]
    }

    private func json(_ certificate: CertificateFacts) -> JSONValue {
        guard showsRaw, var object = VerdictRendering.json(certificate).object else {
            return VerdictRendering.json(certificate)
        }
        object["der"] = .string(Base64.encoded(certificate.der))
        return .object(object)
    }

    private func json(_ fetch: FetchEvidence) -> JSONValue {
        var object: JSONObject = [
            "purpose": .string(fetch.purpose.rawValue), "url": .string(fetch.url),
            "address": VerdictRendering.text(fetch.address?.description), "status": .null,
            "location": .null, "fields": [], "bodyOctets": .null, "bodySHA256": .null,
            "date": .null, "error": .null, "at": at(fetch.seen),
            "milliseconds": .integer(fetch.seen.tookMilliseconds),
        ]
        switch fetch.result {
        case .failure(let failure): object["error"] = .string(failure.reason)
        case .success(let page):
            object["status"] = .integer(Int64(page.status))
            object["location"] = VerdictRendering.text(page.location)
            object["fields"] = .array(page.fieldNames.map { .string($0) })
            object["bodyOctets"] = .integer(Int64(page.bodyOctets))
            object["bodySHA256"] = .string(Hex.encoded(page.bodyDigest))
            object["date"] = VerdictRendering.text(page.date?.iso8601)
            if showsRaw { object["excerpt"] = .string(page.excerpt.escaped) }
        }
        return .object(object)
    }

    private func json(_ network: NetworkEvidence) -> JSONValue {
        [
            "ipv4Route": .bool(network.hasIPv4Route), "ipv6Route": .bool(network.hasIPv6Route),
            "routesAt": network.routes.map { at($0.seen) } ?? .null,
            "nameservers": .array(network.nameservers.map { .string($0.description) }),
            "nat64": .array(network.translators.map { .string($0.description) }),
            "translation": network.translation.map(json) ?? .null,
        ]
    }

    private func json(_ told: TranslationEvidence) -> JSONValue {
        var object = (try? told.result.get()).map(json) ?? json(Statement())
        object["source"] = .string(told.resolver)
        object["prefixes"] = .array(told.prefixes.map { .string($0.description) })
        object["error"] = .null
        if case .failure(let failure) = told.result {
            object["status"] = .null
            object["error"] = json(failure)
        }
        object["at"] = at(told.seen)
        object["milliseconds"] = .integer(told.seen.tookMilliseconds)
        add(told.raw.map { [$0] } ?? [], to: &object)
        return .object(object)
    }

    private func json(_ failure: QueryFailure) -> JSONValue {
        ["code": .string(failure.label), "message": .string(failure.description)]
    }
}
