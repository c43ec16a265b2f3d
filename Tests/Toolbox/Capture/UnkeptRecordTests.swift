import Glibc
import HTTPDNS
import HTTPDNSJSON
import HTTPDNSPinLab
import TestSupport
import Testing

/// Records that `--capture` could not keep.
@Suite(.timeLimit(.minutes(3))) struct UnkeptRecordTests {
    private let lab: CaptureLab

    init() throws { lab = try CaptureLab() }

    /// An origin that takes the place of the capture's file away, once it is asked for something.
    private func origin() throws -> LabServer {
        let path = lab.path
        return try lab.origin { _ in
            mkdir(path, 0o700)
            return .text("hello")
        }
    }

    private func fetch(_ origin: LabServer, _ more: String...) async throws -> CommandResult {
        let root = try lab.directory.write("root.pem", lab.root.certificatePEM)
        return try await CaptureTool.run(
            [
                "fetch", origin.url(host: CaptureLab.host, path: "/"), "--cacert", root,
                "--resolve", "\(CaptureLab.host):127.0.0.1", "--capture", lab.path,
            ] + more)
    }

    @Test func `one that is lost is the error of a request that has none`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let result = try await fetch(origin, "--json")
        #expect(result.status == 2)
        let object = try #require(try result.documents.first)
        #expect(object["error"]?["code"]?.string == "capture_failed", "\(result.outputText)")
        #expect(object["error"]?["message"]?.string?.contains(lab.path) == true)
        #expect(object["status"]?.integer == 200)
        #expect(try result.documents.count == 1)
    }

    @Test func `without JSON it is told in lines, beside the body`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let result = try await fetch(origin)
        #expect(result.status == 2 && result.outputText == "hello")
        #expect(result.errorText.contains("--capture: 1 record could not be kept"))
        #expect(result.errorText.contains(lab.path))
    }

    @Test func `of many requests it is told at the end`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let result = try await fetch(origin, "--json", "--repeat", "3")
        #expect(result.status == 2)
        let objects = try result.documents
        #expect(objects.count == 4)
        #expect(objects.dropLast().allSatisfy { $0["error"] == .null })
        let last = try #require(objects.last)
        #expect(last["error"]?["code"]?.string == "capture_failed" && last["round"] == .null)
        #expect(Set(objects.map { $0.object?.names.sorted() ?? [] }).count == 1)
    }

    @Test func `the request's own error is the nearer one`() async throws {
        let path = lab.path
        let origin = try lab.origin { _ in
            mkdir(path, 0o700)
            var answer = LabResponse(body: [UInt8](repeating: 0x61, count: 50_000))
            answer.conduct = .closes(afterBodyOctets: 20_000)
            return answer
        }
        defer { origin.stop() }
        let result = try await fetch(origin, "--json")
        let object = try #require(try result.documents.first)
        #expect(object["error"]?["code"]?.string == "connection_lost")
        #expect(result.status == 3 && result.errorText.contains("could not be kept"))
    }

    @Test func `cookies that cannot be written are the error, too`() async throws {
        let jar = lab.directory.path + "/jar"
        let origin = try lab.origin { _ in
            mkdir(jar, 0o700)
            return .text("hello")
        }
        defer { origin.stop() }
        let result = try await fetch(origin, "--json", "--cookie-jar", jar)
        #expect(result.status == 2)
        let object = try #require(try result.documents.first)
        #expect(object["error"]?["code"]?.string == "output_failed", "\(result.outputText)")
        #expect(object["error"]?["message"]?.string?.contains("--cookie-jar") == true)
    }

    @Test func `a proxy says so when it stops`() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let root = try lab.directory.write("root.pem", lab.root.certificatePEM)
        let served = try await RunningProxy([
            "--resolve", "\(CaptureLab.host):127.0.0.1", "--cacert", root, "--capture", lab.path,
        ])
        _ = try await run(
            "curl",
            [
                "-s", "--cacert", root, "-x", served.url,
                origin.url(host: CaptureLab.host, path: "/"),
            ])
        let (status, lines, _) = try await served.end(SIGTERM)
        #expect(status == 130)
        let last = try JSONValue.parse(try #require(lines.last))
        #expect(last["event"]?.string == "stopped")
        #expect(last["error"]?["code"]?.string == "capture_failed")
    }
}
