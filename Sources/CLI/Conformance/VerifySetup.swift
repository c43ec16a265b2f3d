internal import HTTPDNSOpenSSLTrust
internal import HTTPDNSTrust

extension TrustOperations {
    /// What the demands of a case mean for the verifier.
    struct Setup {
        private(set) var settings = ChainSettings()
        private(set) var strength = KeyStrength.usual
        private(set) var usages: CertificateParticulars.ExtendedUsages = .server
        /// The suites state the rules of the public web; `openssl verify` does only with
        /// `-x509_strict`.
        private(set) var profile = TrustPolicy.Profile.publicWeb
        private(set) var maximumIntermediates = 10
        private(set) var time: Int64?

        init(_ demands: Demands) throws {
            if let most = demands.maximumIntermediates {
                maximumIntermediates = max(0, min(most, Setup.deepest))
            }
            let named = demands.usages.compactMap { Setup.usagesByName[$0] }
            if !named.isEmpty { usages = CertificateParticulars.ExtendedUsages(named) }
            if let options = demands.options { try apply(options) }
        }

        /// Why the options are not ours to judge; nil when they are.
        static func unsupported(_ options: [String]) -> String? {
            var rest = options[...]
            while let option = rest.popFirst() {
                if valued.contains(option) {
                    _ = rest.popFirst()
                } else if !flags.contains(option) {
                    return "no such option for servers: \(option)"
                }
            }
            return nil
        }

        /// Because: a case asks for 255, and longer paths are only made to cost time.
        private static let deepest = 255
        private static let flags: Set<String> = [
            "-partial_chain", "-x509_strict", "-policy_check", "-explicit_policy",
        ]
        private static let valued: Set<String> = [
            "-auth_level", "-verify_depth", "-attime", "-policy",
        ]
        private static let usagesByName: [String: CertificateParticulars.ExtendedUsages] = [
            "serverAuth": .server, "clientAuth": .client, "emailProtection": .email,
            "anyExtendedKeyUsage": .any,
        ]

        private mutating func apply(_ options: [String]) throws {
            profile = options.contains("-x509_strict") ? .publicWeb : .privateAuthority
            settings.endsAtAnyTrusted = options.contains("-partial_chain")
            for (option, value) in zip(options, options.dropFirst()) {
                switch option {
                case "-policy": settings.policies.append(value)
                case "-verify_depth":
                    maximumIntermediates = max(0, min(try Setup.number(value), Setup.deepest))
                case "-attime": time = try Setup.number(value)
                case "-auth_level":
                    settings.securityLevel = try Setup.number(value)
                    strength = Setup.strength(ofLevel: settings.securityLevel)
                default: break
                }
            }
        }

        private static func number<Number: FixedWidthInteger>(_ text: String) throws -> Number {
            guard let number = Number(text) else { throw Refusal("not a number: \(text)") }
            return number
        }

        /// Source: SSL_CTX_set_security_level(3).
        private static func strength(ofLevel level: Int32) -> KeyStrength {
            let bits = [0, 1_024, 2_048, 3_072, 7_680, 15_360]
            let index = max(0, min(bits.count - 1, Int(level)))
            return KeyStrength(minimumRSABits: bits[index], allowsWeakHashes: index == 0)
        }
    }
}
