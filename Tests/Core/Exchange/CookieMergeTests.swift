import HTTPDNSExchange
import HTTPDNSNames
import Testing

@Suite struct CookieMergeTests {
    private let now = WallTime(secondsSince1970: 1_800_000_000)

    private func jar(_ cookies: String...) throws -> CookieJar {
        var jar = CookieJar()
        for cookie in cookies { try set(cookie, in: &jar) }
        return jar
    }

    private func set(_ cookie: String, in jar: inout CookieJar) throws {
        let url = try HTTPURL("https://a.test/")
        try jar.store(setCookie: cookie, from: url, now: now) { _ in false }
    }

    private func pairs(_ jar: CookieJar) -> [String] {
        jar.all(now: now).map { "\($0.name)=\($0.value)" }
    }

    @Test func `what others have set meanwhile stays, and what was set here joins it`() throws {
        let start = try jar("a=1")
        let mine = try jar("a=1", "b=mine")
        let theirs = try jar("a=1", "c=theirs")
        #expect(
            pairs(mine.merged(since: start, into: theirs, now: now)) == [
                "a=1", "c=theirs", "b=mine",
            ])
    }

    @Test func `of one that both have changed that of the last to write counts`() throws {
        let start = try jar("a=1", "b=1")
        let mine = try jar("a=mine", "b=1")
        let theirs = try jar("a=theirs", "b=theirs")
        let merged = mine.merged(since: start, into: theirs, now: now)
        #expect(pairs(merged) == ["a=mine", "b=theirs"])
    }

    @Test func `what was removed stays removed, on either side`() throws {
        let start = try jar("a=1", "b=1", "c=1")
        var mine = start
        try set("a=; Max-Age=0", in: &mine)
        let theirs = try jar("a=changed", "c=1")
        #expect(pairs(mine.merged(since: start, into: theirs, now: now)) == ["c=1"])
    }

    @Test func `what only ran out here is not taken from others who have it anew`() throws {
        let start = try jar("a=1; Max-Age=10")
        let theirs = try jar("a=2; Max-Age=1000")
        let later = WallTime(secondsSince1970: now.secondsSince1970 + 60)
        let merged = start.merged(since: start, into: theirs, now: later)
        #expect(merged.all(now: later).map(\.value) == ["2"])
    }

    @Test func `an attribute that changed is a change`() throws {
        let start = try jar("a=1", "b=1")
        let mine = try jar("a=1; Secure", "b=1; Max-Age=5")
        let merged = mine.merged(since: start, into: start, now: now)
        #expect(merged.all(now: now).map(\.isSecure) == [true, false])
        #expect(merged.all(now: now).map { $0.expires != nil } == [false, true])
    }
}
