import CHTTPDNSOpenSSL
import HTTPDNSNames
import HTTPDNSOpenSSLTrust
import HTTPDNSPlatform
import HTTPDNSTrust
import TestSupport
import Testing

@Suite struct RevocationListTests {
    private let root: Minted
    private let intermediate: Minted
    private let leaf: Minted
    private let host: Host

    init() throws {
        root = try Recipe.authority("Test Root").minted()
        intermediate = try Recipe.authority("Test Intermediate").minted(by: root)
        leaf = try Recipe.leaf("api.example.com").minted(by: intermediate)
        host = .name(try HostName("api.example.com"))
    }

    private func verified(
        _ mode: RevocationPolicy.Mode, _ lists: [String]
    ) throws -> VerifiedPeer {
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.revocation = RevocationPolicy(mode, lists: lists.map { .pem($0) })
        return try OpenSSLVerifier(policy: policy).verify(
            leaf: leaf.parsed(), intermediates: [intermediate.parsed()], host: host,
            at: SystemWallClock().now())
    }

    private func code(
        _ mode: RevocationPolicy.Mode, _ lists: [String]
    ) throws -> TrustFailure.Code? {
        do {
            _ = try verified(mode, lists)
            return nil
        } catch let failure as TrustFailure { return failure.code }
    }

    @Test func `a list of each issuer shows the whole chain good`() throws {
        let lists = try [StatusMint.list(by: intermediate), StatusMint.list(by: root)]
        for given in [lists, [lists.joined()]] {
            let report = try verified(.required, given).revocation
            guard case .good(.list, _?) = report.leaf, case .good(.list, _?) = report.issuers.first
            else {
                Issue.record("\(report)")
                continue
            }
            #expect(report.issuers.count == 1)
            #expect(report.remarks == [])
        }
    }

    @Test func `a revoked certificate is refused wherever it stands in the chain`() throws {
        let leafList = try StatusMint.list(by: intermediate, naming: leaf)
        let authorityList = try StatusMint.list(by: root, naming: intermediate)
        for mode in [RevocationPolicy.Mode.ifPresent, .required] {
            #expect(try code(mode, [leafList]) == .revoked)
            #expect(try code(mode, [StatusMint.list(by: intermediate), authorityList]) == .revoked)
        }
        #expect(try code(.off, [leafList, authorityList]) == nil)
    }

    @Test func `what no list speaks of is said, and refused where it is required`() throws {
        let report = try verified(.ifPresent, [StatusMint.list(by: root)]).revocation
        #expect(report.leaf == .notChecked(.noHandshake))
        guard case .good(.list, _) = report.issuers.first else {
            Issue.record("\(report)")
            return
        }
        #expect(try code(.required, [StatusMint.list(by: root)]) == .revocationUnknown)
        // The leaf is what is required; of its issuer it is said.
        let leafOnly = try verified(.required, [StatusMint.list(by: intermediate)]).revocation
        #expect(leafOnly.issuers == [.notChecked(.nothingPresent)])
    }

    @Test func `a list that has ended proves nothing good`() throws {
        let ended = try StatusMint.list(by: intermediate, from: -7_200, to: -3_600)
        let report = try verified(.ifPresent, [ended]).revocation
        #expect(report.leaf == .notChecked(.unusable))
        #expect(report.remarks.first?.contains("CRL has expired") == true)
        #expect(try code(.required, [ended]) == .revocationUnknown)
    }

    @Test func `a list that has ended still names whom it names`() throws {
        let ended = try StatusMint.list(by: intermediate, naming: leaf, from: -7_200, to: -3_600)
        #expect(try code(.ifPresent, [ended]) == .revoked)
    }

    @Test func `a list without an end proves nothing good and names whom it names`() throws {
        let endless = try StatusMint.list(by: intermediate, to: nil)
        let report = try verified(.ifPresent, [endless]).revocation
        #expect(report.leaf == .notChecked(.unusable))
        #expect(report.remarks == ["the revocation list for the certificate names no end"])
        #expect(try code(.required, [endless]) == .revocationUnknown)
        let naming = try StatusMint.list(by: intermediate, naming: leaf, to: nil)
        #expect(try code(.ifPresent, [naming]) == .revoked)
    }

    @Test func `a list under a stolen name proves nothing and accuses nobody`() throws {
        let impostor = try Recipe.authority("Test Intermediate").minted()
        for list in try [
            StatusMint.list(by: impostor), StatusMint.list(by: impostor, naming: leaf),
        ] {
            let report = try verified(.ifPresent, [list]).revocation
            guard case .notChecked = report.leaf else {
                Issue.record("\(report)")
                continue
            }
            #expect(try code(.required, [list]) == .revocationUnknown)
        }
    }

    @Test func `a current list is found beside one that has ended`() throws {
        let lists = try [
            StatusMint.list(by: intermediate, from: -7_200, to: -3_600),
            StatusMint.list(by: intermediate),
        ]
        #expect(try code(.required, lists) == nil)
    }

    @Test func `a list that cannot be read is a fault of the set-up that says where`() throws {
        let directory = try TemporaryDirectory()
        let broken = try directory.write(
            "broken.pem", StatusMint.list(by: root) + "-----BEGIN X509 CRL-----\nAAAA\n")
        let none = try directory.write("none.pem", root.pem)
        for (source, words) in [
            (RevocationPolicy.Lists.file(broken), "list 2 is malformed"),
            (.file(none), "expected '-----BEGIN X509 CRL-----'"),
            (.file(directory.path + "/absent.pem"), "absent.pem"),
            (.pem(""), "expected"),
        ] {
            var policy = TrustPolicy(roots: .pem(root.pem))
            policy.revocation.lists = [source]
            let error = #expect(throws: TrustSetupError.self) {
                _ = try OpenSSLVerifier(policy: policy)
            }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: [NID_crl_number, NID_authority_key_identifier])
    func `under the public rules a list has its number and its issuer's key`(kind: Int32) throws {
        let text = try StatusMint.list(by: intermediate)
        // Copies: what a string lends is gone with the call.
        let source = try #require(BIO_new(BIO_s_mem()))
        try #require(BIO_write(source, text, Int32(text.utf8.count)) == text.utf8.count)
        let sink = try #require(BIO_new(BIO_s_mem()))
        let list = try #require(PEM_read_bio_X509_CRL(source, nil, nil, nil))
        defer {
            BIO_free(source)
            BIO_free(sink)
            X509_CRL_free(list)
        }
        X509_EXTENSION_free(
            X509_CRL_delete_ext(list, X509_CRL_get_ext_by_NID(list, kind, -1)))
        #expect(X509_CRL_sign(list, intermediate.key, EVP_sha256()) > 0)
        #expect(PEM_write_bio_X509_CRL(sink, list) == 1)
        var lacking = [UInt8](repeating: 0, count: 16_384)
        let count = Int(max(0, BIO_read(sink, &lacking, Int32(lacking.count))))
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.revocation.lists = [
            .pem(String(decoding: lacking.prefix(count), as: UTF8.self))
        ]
        _ = try OpenSSLVerifier(policy: policy)
        policy.profile = .publicWeb
        #expect(throws: TrustSetupError.self) { _ = try OpenSSLVerifier(policy: policy) }
        policy.revocation.lists = [.pem(text)]
        _ = try OpenSSLVerifier(policy: policy)
    }

    @Test func `a list read again with another content is another policy`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("list.pem", try StatusMint.list(by: intermediate))
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.revocation.lists = [.file(path)]
        let before = try OpenSSLVerifier(policy: policy).fingerprint
        try directory.write("list.pem", try StatusMint.list(by: intermediate, naming: leaf))
        #expect(try OpenSSLVerifier(policy: policy).fingerprint != before)
    }

    @Test func `a staple and a list do for each other`() throws {
        var policy = TrustPolicy(roots: .pem(root.pem))
        policy.revocation = RevocationPolicy(
            .required, lists: [.pem(try StatusMint.list(by: intermediate))])
        let ended = try StatusMint.Staple.ended.minted(about: leaf, of: intermediate)
        let verifier = try OpenSSLVerifier(policy: policy)
        let handshake = try Handshake(verifier, host: host, sending: [leaf, intermediate]) {
            _ = httpdns_lab_context_staple($0, ended, ended.count)
        }
        let report = try handshake.verdict().get().revocation
        guard case .good(.list, _) = report.leaf else {
            Issue.record("\(report)")
            return
        }
        #expect(report.remarks.count == 1)
    }

    /// The list with one more extension, signed anew: a number, or the words of a configuration.
    private func list(with kind: Int32, _ words: String?) throws -> String {
        let octets = Array(try StatusMint.list(by: intermediate).utf8)
        let source = try #require(BIO_new(BIO_s_mem()))
        try #require(BIO_write(source, octets, Int32(octets.count)) == octets.count)
        defer { BIO_free(source) }
        let list = try #require(PEM_read_bio_X509_CRL(source, nil, nil, nil))
        defer { X509_CRL_free(list) }
        if let words {
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, intermediate.certificate, nil, nil, list, 0)
            let made = try #require(X509V3_EXT_conf_nid(nil, &context, kind, "critical," + words))
            defer { X509_EXTENSION_free(made) }
            #expect(X509_CRL_add_ext(list, made, -1) == 1)
        } else {
            let number = try #require(ASN1_INTEGER_new())
            defer { ASN1_INTEGER_free(number) }
            #expect(ASN1_INTEGER_set(number, 1) == 1)
            #expect(X509_CRL_add1_ext_i2d(list, kind, UnsafeMutableRawPointer(number), 1, 0) == 1)
        }
        #expect(X509_CRL_sign(list, intermediate.key, EVP_sha256()) > 0)
        let sink = try #require(BIO_new(BIO_s_mem()))
        defer { BIO_free(sink) }
        #expect(PEM_write_bio_X509_CRL(sink, list) == 1)
        var text = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(sink, &text, Int32(text.count))
        return String(decoding: text.prefix(Int(max(0, count))), as: UTF8.self)
    }

    @Test(arguments: [
        (NID_delta_crl, nil, "not judged: delta CRL"),
        (NID_issuing_distribution_point, "indirectCRL:TRUE", "not judged: indirect CRL"),
        (
            NID_issuing_distribution_point, "onlysomereasons:keyCompromise",
            "not judged: CRL for some reasons only"
        ),
        (NID_issuing_distribution_point, "onlyAA:TRUE", "not judged: CRL of attribute"),
    ])
    func `a list of a kind that is not judged is refused by its name`(
        kind: Int32, words: String?, reason: String
    ) throws {
        let whole = try StatusMint.list(by: intermediate)
        let other = try list(with: kind, words)
        for profile in [TrustPolicy.Profile.publicWeb, .privateAuthority] {
            var policy = TrustPolicy(roots: .pem(root.pem))
            policy.profile = profile
            policy.revocation.lists = [.pem(whole), .pem(whole + other)]
            let error = #expect(throws: TrustSetupError.self) {
                try OpenSSLVerifier(policy: policy)
            }
            #expect(error?.description.contains("list 2 is " + reason) == true, "\(error as Any)")
        }
    }

    @Test func `a list for servers' certificates alone is a whole one`() throws {
        let users = try list(with: NID_issuing_distribution_point, "onlyuser:TRUE")
        #expect(try code(.required, [users]) == nil)
    }
}
