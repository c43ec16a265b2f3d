internal import HTTPDNSExchange
internal import HTTPDNSNames
internal import HTTPDNSRules

/// The cookies that are kept, and those of rules beside them; kept are those of responses alone.
struct AddedCookies: CookieKeeper {
    private let kept: any CookieKeeper
    private let added: [RuleCookie]

    /// Whom to ask for the cookies of a request. Where it has a `Cookie` field of its own, or sends
    /// none of those that are kept, the added ones stand in that field.
    static func keeper(
        _ added: [RuleCookie], _ kept: any CookieKeeper, _ request: inout HTTPRequest
    ) -> any CookieKeeper {
        guard !added.isEmpty else { return kept }
        let own = request.head.fields.texts("Cookie")
        guard !own.isEmpty || !request.usesCookies else {
            return AddedCookies(kept: kept, added: added)
        }
        let all = own.isEmpty ? nil : CookiePairs.joined(own)
        if let line = AddedCookies.line(all, added) {
            try? request.head.fields.set("Cookie", line)
        }
        return kept
    }

    func cookies(for url: HTTPURL) -> FieldText? {
        AddedCookies.line(kept.cookies(for: url), added)
    }

    func store(_ lines: [FieldText], from url: HTTPURL) { kept.store(lines, from: url) }

    private static func line(_ line: FieldText?, _ added: [RuleCookie]) -> FieldText? {
        let names = Set(added.map { Array($0.name.utf8) })
        let others = line.map(CookiePairs.all) ?? []
        return CookiePairs.joined(
            others.filter { !names.contains(CookiePairs.name($0)) }
                + added.map { FieldText("\($0.name)=\($0.value.revealed)") })
    }
}
