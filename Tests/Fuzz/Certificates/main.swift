internal import FuzzLoop
internal import HTTPDNSNames
internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSTrust

/// libFuzzer's entry: certificates in DER, one behind the other, leaf first; read, and held against
/// the chain rules in both profiles.
///
/// A refusal is a fine answer to any octets; a trap is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var chain: [CertificateFacts] = []
    for octets in values(UnsafeBufferPointer(start: start, count: count)) {
        guard let certificate = try? Certificate(der: octets),
            let facts = try? CertificateReader.facts(of: certificate)
        else { continue }
        chain.append(facts)
    }
    guard let leaf = chain.first else { return 0 }
    for profile in [TrustPolicy.Profile.publicWeb, .privateAuthority] {
        let rules = ChainRules(profile: profile)
        for time in [leaf.notBefore, leaf.notAfter] {
            _ = rules.fault(in: chain, at: time)
            for certificate in chain {
                _ = rules.fault(of: certificate, at: .authority(isAnchor: true), now: time)
                _ = rules.fault(of: certificate, at: .leaf(isAnchor: false), now: time)
            }
        }
    }
    _ = NameMatcher.fault(in: leaf)
    return 0
}

/// The DER values in `octets`, by their lengths; what does not add up is one value to the end.
private func values(_ octets: UnsafeBufferPointer<UInt8>) -> [[UInt8]] {
    var values: [[UInt8]] = []
    var rest = octets[...]
    while !rest.isEmpty, values.count < 4 {
        let header = Array(rest.prefix(4))
        var length = rest.count
        if header.count == 4, header[1] == 0x82 {
            length = min(length, 4 + (Int(header[2]) << 8 | Int(header[3])))
        }
        values.append(Array(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    return values
}

/// What SwiftPM starts in place of `main`.
@_cdecl("CertificatesFuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    FuzzLoop.run(count, arguments, fuzzOneInput)
}
