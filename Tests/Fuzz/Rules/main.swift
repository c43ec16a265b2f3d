internal import FuzzLoop
internal import HTTPDNSExchange
internal import HTTPDNSRuleFile
internal import HTTPDNSRules

/// libFuzzer's entry: any text is a list of rules, or refused with a place that is in it.
///
/// What is read can be shown, and decides requests. A trap, or a fault beyond the text, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    do throws(RuleFileFault) {
        let file = try RuleFile(text: text)
        precondition(file.rules.rules.count <= RuleFile.maximumRules, "too many rules were read")
        for rule in file.rules.rules { _ = rule.description }
        for request in requests {
            let decision = file.rules.decide(request, RuleTallies(), seed: UInt64(count))
            precondition(
                decision.names.count == decision.acted.count, "a rule without a name acted")
            _ = file.rules.explanation(of: request)
        }
    } catch {
        let lines = text.utf8.count { $0 == 0x0A } + 1
        precondition((1...lines).contains(error.line ?? 1), "a fault beyond the text")
        precondition(
            error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
            "a fault that moves the cursor")
    }
    return 0
}

private let requests: [RuledRequest] = [
    "http://shop.example/a.png?q=%31&x", "https://[::1]:8443/", "https://xn--bcher-kva.example/%2F",
].compactMap { text in
    guard let url = try? HTTPURL(text), let method = HTTPMethod("GET") else { return nil }
    return RuledRequest(RequestHead(method: method, url: url, fields: HTTPFields()))
}

/// What SwiftPM starts in place of `main`.
@_cdecl("RulesFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
