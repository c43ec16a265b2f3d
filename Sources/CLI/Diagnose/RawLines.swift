internal import HTTPDNSDiagnosis
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// Every message of a run as it came, a line each. Pure; the lines are not yet printable.
struct RawLines {
    private let evidence: Evidence

    init(_ evidence: Evidence) { self.evidence = evidence }

    var all: [String] {
        let answers = evidence.answers.compactMap { answer in
            answer.raw.map { line("\(answer.source.label) \(answer.type.name)", $0) }
        }
        let races = evidence.races.flatMap { race in
            race.raw.enumerated().map { number, raw in
                line(
                    "\(race.source.label) \(race.type.name), answer \(number + 1) of a race", raw)
            }
        }
        let randoms = evidence.randomNames.compactMap { probe in
            probe.answer.raw.map {
                line("\(probe.answer.source.label), made-up \(probe.answer.name)", $0)
            }
        }
        let dark = evidence.dark.flatMap { dark in dark.raw.map { line("\(dark.address)", $0) } }
        let identities = evidence.identities.flatMap { identity in
            identity.raw.map { line("\(identity.source.label) \(identity.probe)", $0) }
        }
        let translation = evidence.network.translation.flatMap { told in
            told.raw.map { line("\(told.resolver) ipv4only.arpa", $0) }
        }
        let vacant = evidence.vacantPorts.compactMap { vacant in
            vacant.raw.map { line("\(vacant.place)", $0) }
        }
        return answers + races + randoms + [dark, translation].compactMap(\.self) + vacant
            + identities
    }

    private func line(_ what: String, _ raw: RawReply) -> String {
        let cut = raw.isCut ? " (the first \(raw.octets.count) of \(raw.wholeOctets) octets)" : ""
        switch raw.form {
        case .dnsMessage: return "raw \(what)\(cut): \(Hex.encoded(raw.octets))"
        case .body: return "raw \(what), body\(cut): \(raw.octets.escaped)"
        case .encryptedBody: return "raw \(what), body, encrypted\(cut): \(raw.octets.escaped)"
        }
    }
}
