import HTTPDNSPinLab
import HTTPDNSURLSession

/// The small internet of the demo: four servers on free loopback ports, all in this process.
struct World {
    static let shopName = "shop.example.test"
    static let account = "100000"

    let shop: HostName
    /// Signs every certificate here, the hijacker's too: only the *name* in that one is wrong.
    let authority: TestAuthority
    /// The real shop.
    let origin: LabServer
    /// A DNS server that answers every name with one address, and the web server at that address.
    let hijacker: Hijacker
    /// Tells the truth, over HTTPS.
    let httpDNS: LabHTTPDNSServer

    init() throws {
        shop = try HostName(World.shopName)
        authority = try TestAuthority("Demo Root")
        origin = try LabServer(
            security: .tls(try authority.leaf([.dns(World.shopName)])), handler: World.serveShop)
        hijacker = try Hijacker(
            address: LabAddress.ipv4(host: 66), port: origin.port, name: "hijacker.invalid",
            authority: authority)
        httpDNS = try LabHTTPDNSServer(
            security: .tls(try authority.leaf(["httpdns.example.test"])),
            table: LabTable(shop, [origin.address], ttlSeconds: 60),
            account: LabAccount(World.account, secret: "demo"))
        try origin.start()
        try hijacker.start()
        try httpDNS.start()
    }

    func stop() {
        origin.stop()
        hijacker.stop()
        httpDNS.stop()
    }

    /// The shop's front door sets a cookie and redirects; behind it, the page depends on the cookie.
    private static func serveShop(_ request: LabRequest) -> LabResponse {
        switch request.path {
        case "/":
            var answer = LabResponse.redirect(to: "/welcome")
            answer.fields.append(
                LabField("Set-Cookie", "basket=apples; Path=/; Secure; HttpOnly"))
            return answer
        case "/welcome" where request.value(of: "Cookie") == "basket=apples":
            return .text("Welcome to the real shop. Your basket: apples.")
        case "/welcome":
            return .text("Welcome to the real shop. Your basket is empty.")
        default: return .text("There is no such page.", status: 404)
        }
    }
}
