import HTTPDNSNames
import HTTPDNSTrust

/// Facts to judge, without a certificate behind them.
enum TrustFixtures {
    static let now = WallTime(secondsSince1970: 1_800_000_000)

    static func pin(_ number: UInt8) -> Pin {
        guard let pin = Pin(sha256: [UInt8](repeating: number, count: 32)) else {
            preconditionFailure("32 octets are a pin")
        }
        return pin
    }

    static func certificate(
        _ subject: String = "CN=leaf", names: [[UInt8]] = [], addresses: [[UInt8]] = [],
        pin number: UInt8 = 1, validity: ClosedRange<Int64> = -100...100
    ) -> CertificateFacts {
        CertificateFacts(
            subject: subject, issuer: "CN=issuer", dnsNames: names, ipAddresses: addresses,
            notBefore: WallTime(secondsSince1970: now.secondsSince1970 + validity.lowerBound),
            notAfter: WallTime(secondsSince1970: now.secondsSince1970 + validity.upperBound),
            pin: pin(number))
    }

    static func host(_ text: String) throws -> Host {
        if let address = try? IPAddress(text) { return .address(address) }
        return .name(try HostName(text))
    }
}
