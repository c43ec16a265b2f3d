import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSTrust
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchIdentityTests {
    @Test func `The identity is the URL's, the address is the route's`() async throws {
        let address = LabAddress.ipv4(host: 7)
        let origin = try FetchOrigin(address: address)
        let result = try await origin.fetch("/", ["--json"])
        let object = try result.object
        #expect(result.status == 0)
        #expect(object["remoteAddress"]?.string == "127.0.0.7")
        #expect(object["addresses"] == ["127.0.0.7"])
        #expect(object["serverName"]?.string == "shop.example.test")
        #expect(object["hostHeader"]?.string == "shop.example.test:\(origin.port)")
        #expect(object["resolver"]?.string == "override")
        #expect(object["verified"]?["name"]?.string == "shop.example.test")
        #expect(object["verified"]?["subject"]?.string == "CN=Shop")
        #expect(object["verified"]?["issuer"]?.string == "CN=Fetch Root")
        #expect(object["verified"]?["pin"] == .null)
        #expect(object["status"] == 200)
        #expect(object["error"] == .null)
        #expect(object["finalURL"]?.string == origin.url())
        #expect((object["timings"]?["tls"]?.number ?? 0) > 0)
        let seen = try #require(origin.server.record.requests.first)
        #expect(seen.host == "shop.example.test:\(origin.port)")
        #expect(seen.serverName == "shop.example.test")
    }

    @Test func `The timeline says who was asked, where it went and what was proved`() async throws {
        let origin = try FetchOrigin()
        let result = try await origin.fetch("/page", ["--verbose"])
        #expect(result.status == 0)
        #expect(result.outputText.hasPrefix("GET shop.example.test:\(origin.port) shop.example"))
        for line in [
            "resolver   override (hosts)", "addresses  127.0.0.1",
            "connected  127.0.0.1:\(origin.port), TLSv1.3, HTTP/1.1",
            "host       shop.example.test:\(origin.port)", "sni        shop.example.test",
            "proof      shop.example.test is shop.example.test of the certificate",
            "subject    CN=Shop", "issuer     CN=Fetch Root", "answer     200",
        ] {
            #expect(result.errorText.contains("  " + line), "\(result.errorText)")
        }
    }

    @Test(arguments: FetchOrigin.Certificate.allCases.filter { $0 != .right })
    func `A wrong certificate ends with 1, and no request leaves`(
        certificate: FetchOrigin.Certificate
    ) async throws {
        let origin = try FetchOrigin(certificate)
        let result = try await origin.fetch("/secret", ["--json", "-H", "Authorization: Bearer 1"])
        let object = try result.object
        #expect(result.status == 1)
        #expect(object["error"]?["code"]?.string == certificate.label)
        #expect(object["status"] == .null)
        #expect(object["verified"] == .null)
        #expect(object["remoteAddress"]?.string == "127.0.0.1")
        #expect(object["attempts"]?.array?.first?["error"]?.string == certificate.label)
        #expect(origin.server.awaitConnectionsEnded())
        #expect(origin.server.record.connections > 0)
        #expect(origin.server.record.receivedOctets == 0)
        #expect(origin.server.record.requests.isEmpty)
    }

    @Test func `A refusal names what was presented and what was expected`() async throws {
        let origin = try FetchOrigin(.wrongName)
        let result = try await origin.fetch("/")
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        for part in [
            "The certificate is not for shop.example.test", "hijacker.invalid", "CN=Hijacker",
            "\(origin.identity.pin)", "connected to 127.0.0.1",
        ] {
            #expect(result.errorText.contains(part), "\(result.errorText)")
        }
    }

    @Test func `With the system's roots a private authority is not trusted`() async throws {
        let origin = try FetchOrigin()
        let result = try await httpdns(
            "fetch", origin.url(), "--resolve", "shop.example.test:127.0.0.1")
        #expect(result.status == 1)
        #expect(origin.server.record.requests.isEmpty)
    }

    @Test func `Nginx logs no request after a refusal, and one after a proof`() async throws {
        let nginx = try await NginxServer.shared()
        let path = "/echo/\(UInt64.random(in: 0...UInt64.max))"
        func fetch(_ host: String, _ path: String) async throws -> CommandResult {
            try await httpdns(
                "fetch", "https://\(host):\(nginx.http2)\(path)", "--resolve",
                "\(host):127.0.0.1", "--cacert", nginx.rootFile, "--json")
        }
        let refused = try await fetch("other.example.test", path + "/refused")
        #expect(refused.status == 1)
        #expect(try refused.object["error"]?["code"]?.string == "wrong_name")
        let proved = try await fetch("shop.example.test", path + "/proved")
        #expect(proved.status == 0)
        #expect(try proved.object["httpVersion"]?.string == "2")
        // The log is written after each response: the second line tells that the first never came.
        let isLogged = await eventually {
            (try? nginx.accessLog())?.contains { $0.contains(path + "/proved") } ?? false
        }
        #expect(isLogged)
        let log = try nginx.accessLog()
        let line = try #require(log.first { $0.contains(path + "/proved") })
        #expect(line.hasPrefix("shop.example.test|shop.example.test:\(nginx.http2)|GET "))
        #expect(!log.contains { $0.contains(path + "/refused") })
    }

    @Test func `A right pin is named in the proof`() async throws {
        let origin = try FetchOrigin()
        let pin = origin.identity.pin.description
        let result = try await origin.fetch("/", ["--pin", pin, "--json"])
        #expect(result.status == 0)
        #expect(try result.object["verified"]?["pin"]?.string == pin)
    }

    @Test(arguments: ["", "shop.example.test=", "**.example.test="])
    func `A wrong pin ends with 1, and no request leaves`(host: String) async throws {
        let origin = try FetchOrigin()
        let wrong = "sha256/" + String(repeating: "A", count: 43) + "="
        let result = try await origin.fetch("/", ["--pin", host + wrong])
        #expect(result.status == 1)
        #expect(result.errorText.contains("No pin matched for shop.example.test"))
        #expect(result.errorText.contains(wrong))
        #expect(result.errorText.contains(origin.identity.pin.description))
        #expect(origin.server.awaitConnectionsEnded())
        #expect(origin.server.record.requests.isEmpty)
    }

    @Test func `A pin for another host does not bind this one`() async throws {
        let origin = try FetchOrigin()
        let other = "other.example.test=sha256/" + String(repeating: "A", count: 43) + "="
        let result = try await origin.fetch("/", ["--pin", other])
        #expect(result.status == 0)
    }

    @Test func `A hijacked address is passed over for a true one`() async throws {
        let origin = try FetchOrigin()
        let hijacker = try Hijacker(port: origin.port)
        try hijacker.start()
        defer { hijacker.stop() }
        let result = try await httpdns(
            "fetch", origin.url(), "--resolve",
            "shop.example.test:\(hijacker.server.address),127.0.0.1", "--cacert", origin.rootFile,
            "--json")
        let object = try result.object
        #expect(result.status == 0)
        #expect(object["remoteAddress"]?.string == "127.0.0.1")
        #expect(object["attempts"]?.array?.first?["address"]?.string == "127.0.0.66")
        #expect(hijacker.server.record.receivedOctets == 0)
    }
}
