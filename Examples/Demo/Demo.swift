import Foundation
import FoundationNetworking
import HTTPDNSPinLab
import HTTPDNSURLSession

/// One request on a network whose DNS lies, twice: by plain DNS, then by HTTP-DNS.
///
/// Exits with 0 only when each step was seen to happen. It needs no network.
@main
struct Demo {
    let world: World
    let url: URL
    var story = Story()

    static func main() async {
        do {
            let world = try World()
            var demo = try Demo(world)
            await demo.run()
            world.stop()
            exit(demo.conclude())
        } catch {
            print("The demo could not start its servers: \(error)")
            exit(1)
        }
    }

    init(_ world: World) throws {
        self.world = world
        guard let url = URL(string: world.origin.url(host: World.shopName)) else {
            throw URLError(.badURL)
        }
        self.url = url
    }

    mutating func run() async {
        let start = ContinuousClock.now
        introduce()
        await step("plain DNS") { try await $0.askPlainDNS() }
        await step("HTTP-DNS") { try await $0.askHTTPDNS() }
        story.title("\nAll steps together took \(Story.milliseconds(ContinuousClock.now - start)).")
    }

    private mutating func step(
        _ name: String, _ body: (inout Demo) async throws -> Void
    ) async {
        do { try await body(&self) } catch {
            story.claim("the step \"\(name)\" runs to its end", false, instead: "\(error)")
        }
    }

    private func introduce() {
        story.title("HTTPDNS: one request on a network whose DNS lies")
        story.remark(
            "Before a request can go to shop.example.test, somebody must say which address")
        story.remark(
            "that is. Whoever answers decides who gets the request. Plain DNS can be forged")
        story.remark("by any network on the way; HTTP-DNS asks over HTTPS, which cannot.")
        story.remark("Four servers run inside this program, on loopback. No network is used.\n")
        let (origin, liar) = (world.origin, world.hijacker)
        story.fact(
            "the shop", "\(origin.address):\(origin.port), certificate for shop.example.test")
        story.fact(
            "a hijacker",
            "\(liar.server.address):\(liar.server.port), certificate for hijacker.invalid")
        story.fact("a lying DNS", "\(liar.dns.endpoint), sends everyone to the hijacker")
        story.fact("an HTTP-DNS", "127.0.0.1:\(world.httpDNS.port), tells the truth over HTTPS")
    }

    private func conclude() -> Int32 {
        guard !story.missed.isEmpty else {
            story.title("Every step was seen to happen.")
            return 0
        }
        story.title("Not seen to happen:")
        for claim in story.missed { story.remark("- " + claim) }
        return 1
    }
}
