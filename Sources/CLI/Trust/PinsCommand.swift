internal import HTTPDNSJSON

extension Command {
    /// `httpdns pins`.
    package static let pins = Command(
        "pins", summary: "SPKI pins: compute, test, plan a rotation",
        usage: "show|check|plan HOST|FILE…",
        options: PeerCheck.options + [.policy, .next, .planHost] + OptionRule.fetchTrust,
        details: details
    ) { (arguments, console) throws(CommandFault) in
        guard let verb = arguments.words.first else {
            throw .usage("one of show, check or plan is missing: httpdns pins show HOST")
        }
        let words = Array(arguments.words.dropFirst())
        guard verb == "plan" || !arguments.has(.planHost) else {
            throw .usage("--host belongs to pins plan")
        }
        switch verb {
        case "show": return try await PinsShow.run(words, arguments, console)
        case "check": return try await PinsCheck.run(words, arguments, console)
        case "plan": return try PinsPlan.run(words, arguments, console)
        default: throw .unknown("verb", verb, known: ["show", "check", "plan"])
        }
    }.failing { words, fault in
        let subject = words.dropFirst().first
        switch words.first {
        case "check": return PinsCheck.json(fault, subject: subject)
        case "plan": return PinsPlan.json(fault)
        default: return PinsShow.json(fault, subject: subject)
        }
    }

    private static var details: String {
        """
        A pin is the SHA-256 of a public key (SubjectPublicKeyInfo): it stays the same when a
        certificate is renewed for the same key, and with openssl it is
          openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der |
            openssl dgst -sha256 -binary | base64

        pins show HOST|FILE…
               the pin of every certificate of a host's verified chain, or of every certificate,
               certificate request or public key in a file (PEM, or one certificate in DER)
        pins check --policy FILE HOST…
               judges hosts, live, under a policy: 0 all hold; 1 one does not, is not trusted, or is
               not spoken of by the policy. It also warns where no backup is left
        pins plan --policy FILE --next FILE…
               whether clients that hold the policy survive the change to the certificates or keys
               of --next: by which pin, or not; and whether a backup is left then. --at is the day
               of the change, on which the certificates must be valid; with --cacert the next
               chain is completed up to its root. A certificate is held against the patterns of
               its names; a bare key says for whom it is nowhere and is held against every
               pattern. --host NAME asks for that host alone

        The form of a policy file is told in docs/pin-policy.md.

        Examples:
          httpdns pins show api.example.com
          httpdns pins show new-cert.pem backup-key.pub --json
          httpdns pins check --policy pins.json api.example.com www.example.com
          httpdns pins check --policy pins.json shop.example --connect 192.0.2.7 --cacert ca.pem
          httpdns pins check --policy pins.json shop.example --revocation required --crl ca.crl.pem
          httpdns pins plan --policy pins.json --next new-chain.pem --at 2027-01-31
          httpdns pins plan --policy pins.json --next key.pub --host api.example.com
        """
    }
}
