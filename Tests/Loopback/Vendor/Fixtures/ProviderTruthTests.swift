import HTTPDNS
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSWire
import Testing

@Suite(.timeLimit(.minutes(2))) struct ProviderTruthTests {
    private func question(_ type: RecordType) throws -> Question {
        Question(name: try HostName("shop.pinlab.dev"), type: type)
    }

    @Test(arguments: FixtureCase.all)
    func `a provider's answer is the zone's`(item: FixtureCase) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let application = try lab.application([item.description(at: lab.server)])
        for type in item.types {
            let outcome = await Outcome(application, try question(type), patience: .seconds(20))
            #expect(outcome.text == (item.tellsTTL ? "ok" : "ttl 60"), "\(outcome.messages)")
            let source = outcome.answer?.testimony.source
            #expect(
                source?.clientAddress?.description == (item.tellsClient ? "203.0.113.7" : nil))
            #expect(source?.server == "127.0.0.1:\(lab.server.port)")
        }
        #expect(lab.server.events.allSatisfy { $0.verdict == "success" })
        #expect(lab.server.events.allSatisfy { $0.isEncrypted == (item.isEncrypted) })
    }

    @Test(arguments: FixtureCase.all.filter { $0.types == [.a] && $0.provider != "baidu" })
    func `what a service cannot be asked for is no answer`(item: FixtureCase) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let outcome = try await lab.outcome([item.description(at: lab.server)], .aaaa)
        #expect(outcome.text == "no_source")
        #expect(lab.server.events.isEmpty)
    }

    @Test(arguments: FixtureCase.all)
    func `the client's network and the customer's parameters arrive`(
        item: FixtureCase
    ) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let application = try lab.application([item.description(at: lab.server)])
        var question = try question(.a)
        question.clientSubnet = try AddressBlock("198.51.100.0/24")
        question.serviceParameters = try ServiceParameters([("tier", "gold=1")])
        let outcome = await Outcome(application, question, patience: .seconds(20))
        #expect(outcome.text == (item.tellsTTL ? "ok" : "ttl 60"), "\(outcome.messages)")
        let event = try #require(lab.server.events.first)
        let heard = event.client.map { String($0.prefix { $0 != "/" }) }
        #expect(heard == (item.hearsClient ? "198.51.100.0" : nil))
        #expect(event.custom["sdns-tier"] == (item.hearsParameters ? "gold=1" : nil))
    }

    @Test(arguments: FixtureCase.all.filter { $0.wrongSecret != nil })
    func `a wrong secret is told and not shown`(item: FixtureCase) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let wrong = "ffffffffffffffffffffffffffffffff"
        let description = try item.description(at: lab.server) { $0.secret = Secret(wrong) }
        let outcome = try await lab.outcome([description])
        #expect(outcome.text == item.wrongSecret)
        for secret in FixtureCase.secrets + [wrong] { #expect(!outcome.messages.contains(secret)) }
        #expect(!"\(description)".contains(wrong))
    }

    @Test(arguments: FixtureCase.all.filter { $0.unknownAccount != nil })
    func `an unknown account is told`(item: FixtureCase) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let isPair = item.account?.contains("/") == true
        let outcome = try await lab.outcome([
            item.description(at: lab.server) { $0.account = isPair ? "999999/a1" : "999999" }
        ])
        #expect(outcome.text == item.unknownAccount)
        for secret in FixtureCase.secrets { #expect(!outcome.messages.contains(secret)) }
    }

    @Test(arguments: FixtureCase.all.filter { $0.wrongClock != nil })
    func `a signature of the past is told`(item: FixtureCase) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        lab.server.misbehave(.clockWrong(seconds: 7_200))
        let outcome = try await lab.outcome([item.description(at: lab.server)])
        #expect(outcome.text == item.wrongClock)
        for secret in FixtureCase.secrets { #expect(!outcome.messages.contains(secret)) }
    }

    @Test(arguments: FixtureCase.all.filter { $0.provider == "baidu" })
    func `Baidu's own time dates the second request`(item: FixtureCase) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        lab.server.misbehave(.clockWrong(seconds: 7_200))
        let outcome = try await lab.outcome([item.description(at: lab.server)])
        #expect(outcome.text == "ok")
        #expect(lab.server.events.map(\.verdict) == ["SignatureExpired", "success"])
        #expect(lab.server.events.allSatisfy { $0.isSigned })
    }

    @Test(arguments: FixtureCase.all.filter { $0.takesSeveral })
    func `names of one moment share a request, each with its own answer`(
        item: FixtureCase
    ) async throws {
        let lab = try FixtureLab(item)
        defer { lab.server.stop() }
        let description = try item.description(at: lab.server) { $0.batchesNames = true }
        let application = try lab.application([description])
        let other = Question(name: try HostName("pay.pinlab.dev"), type: .a)
        let shop = try question(.a)
        async let one = Outcome(application, shop, patience: .seconds(20))
        async let two = Outcome(application, other, patience: .seconds(20))
        #expect(await one.text == "ok")
        #expect(await two.answer?.addresses == [try IPAddress("192.0.2.2")])
        let names = lab.server.events.flatMap(\.names).sorted()
        #expect(names == ["pay.pinlab.dev", "shop.pinlab.dev"])
    }
}

extension FixtureCase {
    /// Whether names do not travel in clear even inside TLS.
    fileprivate var isEncrypted: Bool {
        provider == "dnspod-des" || provider == "dnspod-aes"
            || encryption == .aesCBC || encryption == .aesGCM
    }

    fileprivate var takesSeveral: Bool {
        [
            "aliyun", "aliyun-v2", "dnspod", "dnspod-des", "dnspod-aes", "volcengine", "baidu",
            "qiniu", "wangsu",
        ]
        .contains(provider)
    }
}
