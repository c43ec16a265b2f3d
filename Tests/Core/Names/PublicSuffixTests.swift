import HTTPDNSNames
import HTTPDNSPublicSuffix
import Testing

@Suite struct PublicSuffixTests {
    @Test(arguments: [
        ("www.example.co.uk", "example.co.uk"), ("example.com", "example.com"),
        ("a.b.test.ck", "b.test.ck"), ("www.www.ck", "www.ck"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("a.b.unlisted-tld", "b.unlisted-tld"),
    ])
    func `a registrable domain is the suffix and one label`(name: String, domain: String) throws {
        #expect(PublicSuffix.registrableDomain(of: try HostName(name))?.text == domain)
    }

    @Test(arguments: ["com", "co.uk", "test.ck", "localhost", "xn--55qx5d.cn"])
    func `a public suffix has no registrable domain`(name: String) throws {
        #expect(PublicSuffix.isPublicSuffix(try HostName(name)))
        #expect(PublicSuffix.registrableDomain(of: try HostName(name)) == nil)
    }

    @Test func `a name that someone registered is no public suffix`() throws {
        #expect(try !PublicSuffix.isPublicSuffix(HostName("example.co.uk")))
        #expect(try !PublicSuffix.isPublicSuffix(HostName("www.ck")))
    }
}
