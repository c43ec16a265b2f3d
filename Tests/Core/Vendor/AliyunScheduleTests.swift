import Glibc
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSVendor
import TestSupport
import Testing

@Suite struct AliyunScheduleCodecTests {
    private func codec(_ secret: String? = nil) throws -> AliyunScheduleCodec {
        try AliyunScheduleCodec(
            account: "100000", secret: secret.map { Secret($0) },
            randomOctets: { Array([0xAB, 0xCD, 0xEF, 0x23, 0x45].prefix($0)) })
    }

    /// The servers, or the failure's label.
    private func outcome(_ body: String, status: Int = 200) throws -> String {
        let codec = try codec()
        do throws(QueryFailure) {
            let list = try codec.list(
                in: Vendor.response(body, status: status), port: .https)
            return (list.isTurnedOff ? "off " : "")
                + list.servers.map(\.description).joined(separator: " ")
        } catch {
            return error.label
        }
    }

    @Test func `the signature is the plain MD5 of the vendor's own example`() throws {
        // Source: md5("abcdef2345-123456-1632912372"), printed in the vendor's document.
        let request = try codec("123456").request(
            now: WallTime(secondsSince1970: 1_632_912_372 - 60))
        #expect(request.target.hasPrefix("/100000/ss?region=global&"))
        #expect(
            request.target.hasSuffix(
                "&n=abcdef2345&t=1632912372&s=de7be63a9f19cf11e9d455d7d4f23cb4"))
        #expect(try !codec().request(now: Vendor.now).target.contains("&s="))
    }

    @Test(arguments: [
        (
            #"{"service_ip":["192.0.2.1"],"service_ipv6":["2001:db8::1"]}"#,
            "192.0.2.1:443 [2001:db8::1]:443"
        ),
        (
            #"{"service_ip":["192.0.2.1","192.0.2.2"],"service_ip_port":[8443,0]}"#,
            "192.0.2.1:8443 192.0.2.2:443"
        ),
        (#"{"service_ip":["192.0.2.1"],"service_ip_port":8443}"#, "192.0.2.1:8443"),
        (#"{"service_ip":["192.0.2.1"],"service_ip_port":[99999]}"#, "malformed"),
        (#"{"service_ip":["192.0.2.1"],"service_ip_port":["x"]}"#, "malformed"),
        (#"{"service_ip":[]}"#, ""), (#"{"service_status":"disable"}"#, "off "),
        (#"{"service_ip":["192.0.2.1"],"service_status":"disable"}"#, "off 192.0.2.1:443"),
        (#"{"service_ip":["host.example"]}"#, "malformed"), (#"{"service_ip":7}"#, "malformed"),
        ("{}", "malformed"), ("<html>", "malformed"), ("[]", "malformed"),
        (#"{"code":"InvalidAccount"}"#, "rejected"),
    ])
    func `what the service says is read, whatever it says`(body: String, expected: String) throws {
        #expect(try outcome(body) == expected)
    }

    @Test func `every beginning of a good list is an error`() throws {
        let good = #"{"service_ip":["192.0.2.1"],"service_ip_port":[80]}"#
        for count in 0..<good.utf8.count {
            #expect(try outcome(String(good.prefix(count))) == "malformed")
        }
    }
}

@Suite struct FileCursorStoreTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let stored: ServiceSchedule.Stored

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/servers.json"
        stored = ServiceSchedule.Stored(
            servers: [
                Endpoint(address: try IPAddress("192.0.2.1"), port: .https),
                Endpoint(address: try IPAddress("2001:db8::1"), port: .http),
            ], cursor: 1, fetchedAt: WallTime(secondsSince1970: 1_750_000_000))
    }

    @Test func `what is saved is read back, and only its owner may read it`() throws {
        let store = FileCursorStore(path: path)
        #expect(try store.load() == nil)
        try store.save(stored)
        try store.save(stored)
        #expect(try store.load() == stored)
        var facts = stat()
        #expect(lstat(path, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600)
        #expect(try directoryEntries() == ["servers.json"])
    }

    private func directoryEntries() throws -> [String] {
        let stream = try #require(opendir(directory.path))
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"version":2}"#,
        #"{"version":1,"servers":[],"cursor":0,"fetchedAt":1}"#,
        #"{"version":1,"servers":[{"address":"192.0.2.1","port":443}],"cursor":1,"fetchedAt":1}"#,
        #"{"version":1,"servers":[{"address":"192.0.2.1","port":0}],"cursor":0,"fetchedAt":1}"#,
        #"{"version":1,"servers":[{"address":"x","port":1}],"cursor":-1,"fetchedAt":1}"#,
        String(repeating: "x", count: 70_000),
    ])
    func `a damaged file is a fault that says so`(text: String) throws {
        try directory.write("servers.json", text)
        let store = FileCursorStore(path: path)
        #expect(throws: StoreFault.self) { try store.load() }
        try store.save(stored)
        #expect(try store.load() == stored)
    }

    @Test func `a place that cannot be written is a fault, and leaves nothing behind`() throws {
        let store = FileCursorStore(path: directory.path + "/none/servers.json")
        #expect(throws: StoreFault.self) { try store.save(stored) }
        #expect(try directoryEntries().isEmpty)
    }
}
