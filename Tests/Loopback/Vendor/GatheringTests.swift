import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPlatform
import HTTPDNSVendor
import HTTPDNSWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct GatheringTests {
    private let soon = SystemMonotonicClock().now().adding(seconds: 60)

    @Test func `A and AAAA of one name are one request`() async throws {
        let service = try WrittenService.aliyun()
        let alarms = HeldAlarms()
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server]
        ) { $0.alarms = alarms }
        let (a, aaaa) = (
            try VendorLab.question("a.example.test"),
            try VendorLab.question("a.example.test", .aaaa)
        )
        async let one = VendorLab.outcome(backend, a)
        async let two = VendorLab.outcome(backend, aaaa)
        #expect(await [one, two] == ["192.0.2.1", "2001:db8::1"])
        #expect(service.targets == ["/1/d?host=a.example.test&query=4,6"])
    }

    @Test func `names of one moment are one request when batching is on`() async throws {
        let service = try WrittenService.aliyun()
        let alarms = HeldAlarms()
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server]
        ) {
            $0.alarms = alarms
            $0.batchesNames = true
        }
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 1...5 {
                group.addTask {
                    guard let question = try? VendorLab.question("a\(number).example.test") else {
                        return "no question"
                    }
                    return await VendorLab.outcome(backend, question, milliseconds: 3_600_000)
                }
            }
            // Five deadlines and one window.
            #expect(await eventually { alarms.count == 6 })
            alarms.ring(by: soon)
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(outcomes == [String](repeating: "192.0.2.1", count: 5))
        #expect(service.targets.count == 1)
        #expect(service.targets.first?.hasPrefix("/1/resolve?host=a") == true)
    }

    @Test func `what a batch leaves out is asked again, each name alone`() async throws {
        // The batch call knows no IPv6 and not every name; the single one knows all.
        let service = try WrittenService { target in
            target.hasPrefix("/1/resolve")
                ? (
                    WrittenService.json,
                    #"{"dns":[{"host":"a1.example.test","ips":["192.0.2.7"],"ttl":30},"#
                        + #"{"host":"a2.example.test","ips":["192.0.2.8"],"ipsv6":[],"ttl":30}]}"#
                ) : (WrittenService.json, WrittenService.aliyunBody(target, "192.0.2.1"))
        }
        let alarms = HeldAlarms()
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server]
        ) {
            $0.alarms = alarms
            $0.batchesNames = true
        }
        let outcomes = await withTaskGroup(of: (String, String).self) { group in
            for number in 1...3 {
                for type in [RecordType.a, .aaaa] {
                    group.addTask {
                        let name = "a\(number)"
                        guard
                            let question = try? VendorLab.question(name + ".example.test", type)
                        else { return ("", "no question") }
                        return (
                            "\(name) \(type.name)",
                            await VendorLab.outcome(backend, question, milliseconds: 3_600_000)
                        )
                    }
                }
            }
            // Six deadlines and one window.
            #expect(await eventually { alarms.count == 7 })
            alarms.ring(by: soon)
            return await group.reduce(into: [String: String]()) { $0[$1.0] = $1.1 }
        }
        #expect(
            outcomes == [
                "a1 A": "192.0.2.7", "a1 AAAA": "2001:db8::1", "a2 A": "192.0.2.8", "a2 AAAA": "",
                "a3 A": "192.0.2.1", "a3 AAAA": "2001:db8::1",
            ])
        let targets = service.targets
        #expect(targets.filter { $0.hasPrefix("/1/resolve") }.count == 1)
        #expect(
            targets.filter { $0.hasPrefix("/1/d") }.sorted() == [
                "/1/d?host=a1.example.test&query=6", "/1/d?host=a3.example.test&query=4,6",
            ])
    }

    @Test func `one who goes away does not take the answer from the other`() async throws {
        let service = try WrittenService.aliyun()
        let alarms = HeldAlarms()
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server]
        ) { $0.alarms = alarms }
        let question = try VendorLab.question("a.example.test")
        let leaving = Task {
            await VendorLab.outcome(backend, question, milliseconds: 3_600_000)
        }
        let staying = Task {
            await VendorLab.outcome(backend, question, milliseconds: 3_600_000)
        }
        #expect(await eventually { alarms.count == 3 })
        leaving.cancel()
        #expect(await leaving.value == "cancelled")
        alarms.ring(by: soon)
        #expect(await staying.value == "192.0.2.1")
        #expect(service.targets.count == 1)
    }

    @Test func `each waiter has a deadline of its own`() async throws {
        let service = try WrittenService { _ in nil }
        let alarms = HeldAlarms()
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server]
        ) { $0.alarms = alarms }
        let question = try VendorLab.question("a.example.test")
        let hasty = Task { await VendorLab.outcome(backend, question, milliseconds: 30_000) }
        let patient = Task { await VendorLab.outcome(backend, question, milliseconds: 3_600_000) }
        #expect(await eventually { alarms.count == 3 })
        alarms.ring(by: soon)
        #expect(await hasty.value == "timed_out")
        #expect(await eventually { !service.targets.isEmpty })
        patient.cancel()
        #expect(await patient.value == "cancelled")
    }

    @Test func `a type that the protocol lacks is refused without a request`() async throws {
        let service = try WrittenService.aliyun()
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server])
        let question = try VendorLab.question("a.example.test", .txt)
        #expect(await VendorLab.outcome(backend, question) == "unsupported_type")
        #expect(service.targets.isEmpty)
    }

    @Test func `many questions at once are all answered, in half as many requests`() async throws {
        let service = try WrittenService.aliyun()
        let backend = try VendorLab.backend(
            AliyunCodec(account: "1", secret: nil), [service.server])
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let type: RecordType = number % 2 == 0 ? .a : .aaaa
                    guard
                        let question = try? VendorLab.question(
                            "a\(number / 2).example.test", type)
                    else { return "no question" }
                    return await VendorLab.outcome(backend, question, milliseconds: 60_000)
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == ["192.0.2.1": 100, "2001:db8::1": 100])
        #expect((100...200).contains(service.targets.count))
    }
}
