import Glibc
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FetchInterruptTests {
    @Test func `An interrupt ends with 130`() async throws {
        let origin = try FetchOrigin()
        let child = try ChildProcess(
            Tool.path,
            [
                "fetch", origin.url("/silent"), "--resolve", "shop.example.test:127.0.0.1",
                "--cacert", origin.rootFile,
            ])
        let isAsked = await eventually { !origin.server.record.requests.isEmpty }
        #expect(isAsked)
        kill(child.identifier, SIGINT)
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 130)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted fetch says so in JSON`(signal: Int32) async throws {
        let origin = try FetchOrigin()
        let child = try ChildProcess(
            Tool.path,
            [
                "fetch", origin.url("/silent"), "--resolve", "shop.example.test:127.0.0.1",
                "--cacert", origin.rootFile, "--json",
            ])
        let isAsked = await eventually { !origin.server.record.requests.isEmpty }
        #expect(isAsked)
        kill(child.identifier, signal)
        let (line, status) = try await offPool { (child.readLine(), child.awaitEnd()) }
        let object = try JSONValue.parse(try #require(line))
        #expect(object["error"]?["code"]?.string == "cancelled")
        #expect(status == 130)
    }

    @Test func `Conformance answers each line as it comes, and ends with the input`() async throws {
        let child = try ChildProcess(Tool.path, ["conformance"])
        child.closeInput()
        let status = try await offPool { child.awaitEnd() }
        #expect(status == 0)
        let result = try await httpdns(
            "conformance", input: "garbage\n{\"id\":7,\"op\":\"ip.literal\",\"input\":\"::1\"}")
        #expect(result.status == 0)
        #expect(result.lines.count == 2)
        #expect(result.lines.last?.hasPrefix("{\"id\":7,\"ok\":true") == true)
    }
}
