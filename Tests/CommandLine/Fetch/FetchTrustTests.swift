import HTTPDNSJSON
import HTTPDNSNames
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchTrustTests {
    @Test func `The result says what was not checked`() async throws {
        let origin = try FetchOrigin()
        let object = try await origin.fetch("/", ["--json"]).object
        let verified = try #require(object["verified"])
        #expect(verified["revocation"]?["status"]?.string == "not_checked")
        #expect(verified["revocation"]?["reason"]?.string == "nothing_present")
        #expect(verified["transparency"]?["status"]?.string == "off")
        #expect(verified["dangerous"] == [])
        #expect(object["dangerous"] == [])
        let off = try await origin.fetch("/", ["--json", "--revocation", "off"]).object
        #expect(off["verified"]?["revocation"]?["reason"]?.string == "off")
        let timeline = try await origin.fetch("/", ["--verbose"]).errorText
        #expect(timeline.contains("  revoked    not checked: no staple, no list of its issuer"))
    }

    @Test func `Without a proof that it was not revoked no request leaves, if one is required`()
        async throws
    {
        let origin = try FetchOrigin()
        let result = try await origin.fetch("/", ["--json", "--revocation=required"])
        #expect(result.status == 1)
        #expect(try result.object["error"]?["code"]?.string == "revocation_unknown")
        #expect(origin.server.awaitConnectionsEnded())
        #expect(origin.server.record.receivedOctets == 0)
    }

    @Test func `A staple that proves nothing is named`() async throws {
        let origin = try FetchOrigin { $0.staple = [0x30, 0x00] }
        let object = try await origin.fetch("/", ["--json"]).object
        #expect(
            object["verified"]?["revocation"]?["remarks"] == ["the staple is malformed"])
        let refused = try await origin.fetch("/", ["--json", "--revocation=required"])
        #expect(try refused.object["error"]?["code"]?.string == "staple_invalid")
    }

    @Test func `A server that demands a certificate is shown the one of --cert`() async throws {
        let clients = try TestAuthority("Clients")
        let client = try clients.leaf(["a client"])
        let origin = try FetchOrigin { $0.clientAuthority = clients.identity.certificate }
        let both = try origin.directory.write(
            "both.pem", client.certificatePEM + client.privateKeyPEM)
        let key = try origin.directory.write("client.key", client.privateKeyPEM)
        for arguments in [["--cert", both], ["--cert", both, "--key", key]] {
            #expect(try await origin.fetch("/", arguments).status == 0)
        }
        #expect(try await origin.fetch("/").status != 0)
        #expect(origin.server.record.requests.count == 2)
    }

    @Test func `A key of another certificate is wrong usage`() async throws {
        let client = try TestAuthority("Clients").leaf(["a client"])
        let stranger = try TestAuthority("Clients").leaf(["a client"])
        let origin = try FetchOrigin()
        let certificate = try origin.directory.write("client.pem", client.certificatePEM)
        let key = try origin.directory.write("other.key", stranger.privateKeyPEM)
        let result = try await origin.fetch("/", ["--cert", certificate, "--key", key])
        #expect(result.status == 2)
        #expect(result.errorText.contains("belongs to another certificate"))
        #expect(origin.server.record.connections == 0)
    }

    @Test func `A dangerous option shows in every result`() async throws {
        let origin = try FetchOrigin(.common)
        let option = ["--dangerous", "shop.example.test=matches_common_name"]
        let result = try await origin.fetch("/", ["--json", "--verbose"] + option)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try result.object["dangerous"] == ["matches_common_name"])
        #expect(try result.object["verified"]?["dangerous"] == ["matches_common_name"])
        #expect(result.errorText.contains("  DANGEROUS  matches_common_name"))
        let unneeded = try await FetchOrigin().fetch("/", ["--json"] + option)
        #expect(try unneeded.object["verified"]?["dangerous"] == ["matches_common_name"])
        let refused = try await FetchOrigin(.wrongName).fetch("/", ["--json"] + option)
        #expect(refused.status == 1)
        #expect(try refused.object["dangerous"] == ["matches_common_name"])
        let without = try await origin.fetch("/", ["--json"])
        #expect(try without.object["error"]?["code"]?.string == "wrong_name")
    }

    @Test(arguments: [
        (["--revocation=maybe"], "off, if-present, required"),
        (["--revocation=off", "--crl=x.pem"], "--revocation off not to"),
        (["--crl=/nonexistent.pem"], "/nonexistent.pem"),
        (["--ct=require"], "--ct needs --ct-logs"), (["--ct=require=0"], "none of off, report"),
        (["--ct-logs=/nonexistent.json"], "/nonexistent.json"),
        (["--key=x.pem"], "--key belongs to --cert"),
        (["--cert=x.pem", "--key-pass-env=NOT_SET_ANYWHERE"], "not set"),
        (["--dangerous=everything"], "write HOST=OPTION"),
        (["--dangerous=**.test=matches_common_name"], "name the hosts"),
    ])
    func `What cannot be meant is wrong usage that says what can`(
        arguments: [String], words: String
    ) async throws {
        let target = ["https://shop.example.test/", "--resolve", "shop.example.test:127.0.0.1"]
        let result = try await run(
            Tool.path, ["fetch"] + target + arguments, input: [], environment: ["NO_COLOR": "1"])
        #expect(result.status == 2)
        #expect(result.errorText.contains(words), "\(result.errorText)")
        #expect(!result.errorText.contains("NOT_SET_ANYWHERE"))
    }
}
