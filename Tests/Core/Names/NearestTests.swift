import HTTPDNSNames
import Testing

@Suite struct NearestTests {
    private static let words = ["cloudflare", "google", "quad9", "lookup", "fetch"]

    @Test(arguments: [
        ("cloudfare", "cloudflare"), ("gogole", "google"), ("QUAD", "quad9"), ("lokup", "lookup"),
        ("ftech", "fetch"), ("google", "google"), ("fetchh", "fetch"),
    ]) func `a slip is put right`(typed: String, meant: String) {
        #expect(Nearest.word(to: typed, in: Self.words) == meant)
    }

    @Test(arguments: [
        "", "x", "gle", "fetching", "cloud", String(repeating: "g", count: 65), "поиск",
    ]) func `another word stays without a guess`(typed: String) {
        #expect(Nearest.word(to: typed, in: Self.words) == nil)
    }

    @Test func `of equally near words the first is taken, and of none nothing`() {
        #expect(Nearest.word(to: "bat", in: ["cat", "hat"]) == "cat")
        #expect(Nearest.word(to: "bat", in: []) == nil)
    }
}
