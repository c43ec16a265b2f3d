internal import FuzzLoop
internal import HTTPDNSPinPolicy
internal import HTTPDNSTrust

/// libFuzzer's entry: any text is a pin policy, or refused with a place that is in it.
///
/// What is read pins something, and each rule has the pins that its words promise. A trap, or a
/// rule without a pin, is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    do {
        let policy = try PinPolicy(octets, named: "fuzz")
        precondition(!policy.pins.isEmpty, "a policy that pins nothing was read")
        for pattern in policy.pins.patterns {
            guard let rule = policy.pins.rule(under: pattern) else { continue }
            let isBacked =
                rule.pins.count > 1 || rule.backup == .waived || rule.enforcement == .reportOnly
            precondition(!rule.pins.isEmpty && isBacked, "a rule without its pins was read")
        }
    } catch {
        let lines = octets.count { $0 == 0x0A } + 1
        precondition((1...lines).contains(error.line ?? 1), "a fault beyond the text")
        precondition(
            error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
            "a fault that moves the cursor")
    }
    return 0
}

/// What SwiftPM starts in place of `main`.
@_cdecl("PinPolicyFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
