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
        let own = request.head.fields.all("Cookie")
        guard !own.isEmpty || !request.usesCookies else {
            return AddedCookies(kept: kept, added: added)
        }
        let all = own.isEmpty ? nil : own.joined(separator: "; ")
        if let line = AddedCookies.line(all, added) {
            try? request.head.fields.set("Cookie", line)
        }
        return kept
    }

    func cookies(for url: HTTPURL) -> String? {
        AddedCookies.line(kept.cookies(for: url), added)
    }

    func store(_ lines: [String], from url: HTTPURL) { kept.store(lines, from: url) }

    private static func line(_ line: String?, _ added: [RuleCookie]) -> String? {
        let names = Set(added.map(\.name))
        let others = (line ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
            .filter { !names.contains(String($0.prefix { $0 != "=" })) }.map(String.init)
        let all = others + added.map { "\($0.name)=\($0.value.revealed)" }
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }
}
