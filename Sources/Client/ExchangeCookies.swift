internal import HTTPDNSExchange
internal import HTTPDNSPlatform

// The cookies of one exchange.
extension ExchangeDriver {
    func store(_ lines: [FieldText], from url: HTTPURL) {
        guard request.usesCookies else { return }
        cookies.store(lines, from: url)
        let names = lines.compactMap { try? SetCookieLine($0).nameText.wire }
        state.withLock { $0.cookiesSet.formUnion(names) }
    }

    /// The head and the `Cookie` value that go out together.
    ///
    /// A `Cookie` field of the caller's own stands for all that is kept. Beside it goes what hops of
    /// this exchange have set since it was written: of one name what the server set counts.
    func withCookies(_ head: RequestHead) throws(RewriteFault) -> (RequestHead, FieldText?) {
        guard request.usesCookies else { return (head, nil) }
        let kept = cookies.cookies(for: head.url)
        let own = head.fields.texts("Cookie")
        let set = state.withLock { $0.cookiesSet }
        guard let kept, !own.isEmpty, !set.isEmpty else { return (head, kept) }
        let newer = CookiePairs.all(kept).filter { set.contains(CookiePairs.name($0)) }
        let names = Set(newer.map(CookiePairs.name))
        let older = own.flatMap(CookiePairs.all).filter {
            !names.contains(CookiePairs.name($0))
        }
        guard let field = CookiePairs.joined(older + newer) else { return (head, nil) }
        var head = head
        do { try head.fields.set("Cookie", field) } catch { throw .unusableCookies }
        return (head, nil)
    }
}
