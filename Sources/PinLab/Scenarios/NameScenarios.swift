internal import HTTPDNSNames

// Whom a certificate is for.
extension LabScenario {
    static let names: [LabScenario] =
        [
            refused(
                "wrong-name", "a certificate for another name", ["wrong.host"],
                "it proves somebody else: what a hijacked name looks like", "RFC 9525 §6.3"
            ) { $0.recipe.names = ["other.lab.test"] },
            refused(
                "wrong-name-right-cn", "the right common name beside another name in the SAN", [],
                "only the SAN counts", "RFC 9525 §6.1"
            ) {
                $0.recipe.commonName = $0.host
                $0.recipe.names = ["other.lab.test"]
            },
            refused(
                "cn-only", "the name as common name alone, and no SAN", [],
                "common names are no identities: they have no type and no rules", "RFC 9525 §2"
            ) {
                $0.recipe.commonName = $0.host
                $0.recipe.names = []
            },
            refused(
                "ip-san-for-name", "the address of the server, but not its name", [],
                "who can lie about the address can have such a certificate", "RFC 9525 §6.5"
            ) { $0.recipe.names = [.address(LabAddress.ipv4)] },
            refused(
                "nul-in-san", "a name that goes on after a NUL octet", [],
                "who stops at the NUL sees the right name", "RFC 5280 §4.2.1.6", "malformed_name",
                "wrong_name"
            ) { plan in
                plan.recipe.names = [
                    .dns(octets: Array(plan.host.utf8) + [0] + Array(".evil.test".utf8))
                ]
            },
            refused(
                "idn-u-label", "a name in UTF-8 where its A-label belongs", [],
                "dNSName is ASCII", "RFC 9549 §2", "malformed_name", "wrong_name",
                setting: {
                    $0.host = ascii + ".lab.test"
                    $0.recipe.names = [.dns($0.host)]
                }, fault: { $0.recipe.names = [.dns("bücher.lab.test")] }),
            named(
                "idn", "an international name as A-label", "names compare as A-labels",
                "RFC 9525 §6.3"
            ) {
                $0.host = ascii + ".lab.test"
                $0.recipe.names = [.dns($0.host)]
            },
            named("case", "the name in upper case", "names compare without case", "RFC 4343 §3") {
                $0.recipe.names = [.dns($0.host.uppercased())]
            },
        ] + wildcards + addresses

    private static let wildcards: [LabScenario] = [
        named("wildcard", "a wildcard for the first label", "it covers one label", "RFC 9525 §6.3")
        {
            $0.recipe.names = ["*.lab.test"]
        },
        refused(
            "wildcard-two-labels", "a wildcard where two labels are", [],
            "it covers one label", "RFC 9525 §6.3",
            setting: deeper, fault: { $0.recipe.names = ["*.lab.test"] }),
        refused(
            "wildcard-for-parent", "a wildcard below the name", [],
            "it covers one label, and none is no label", "RFC 9525 §6.3"
        ) { $0.recipe.names = [.dns("*." + $0.host)] },
        refused(
            "wildcard-partial", "a wildcard within a label", [],
            "it must be the whole label", "RFC 9525 §6.3", "wrong_name", "malformed_name"
        ) { $0.recipe.names = ["wildcard-p*.lab.test"] },
        refused(
            "wildcard-middle", "a wildcard in the second label", [],
            "it must be the leftmost label", "RFC 9525 §6.3", "wrong_name", "malformed_name"
        ) { $0.recipe.names = ["wildcard-middle.*.test"] },
        refused(
            "wildcard-in-a-label", "a wildcard within an A-label", [],
            "it must be the whole label", "RFC 9525 §6.3", "wrong_name", "malformed_name",
            setting: {
                $0.host = ascii + ".lab.test"
                $0.recipe.names = [.dns($0.host)]
            }, fault: { $0.recipe.names = ["xn--*.lab.test"] }),
        refused(
            "wildcard-alone", "a wildcard and nothing else", [],
            "it would be everybody", "RFC 9525 §6.3", "wrong_name", "malformed_name",
            setting: {
                $0.host = "wildcard-alone"
                $0.recipe.names = [.dns($0.host)]
            }, fault: { $0.recipe.names = ["*"] }),
        refused(
            "wildcard-public-suffix", "a wildcard for all of .co.uk", [],
            "nobody holds all names of a registry", "CA/B BR §3.2.2.6", "wrong_name",
            "malformed_name",
            setting: {
                $0.host = "wildcard-public-suffix.co.uk"
                $0.recipe.names = [.dns($0.host)]
            }, fault: { $0.recipe.names = ["*.co.uk"] }),
    ]

    private static let addresses: [LabScenario] = [
        named("ip-san", "the address in the URL as iPAddress", "that is its place", "RFC 9525 §6.5")
        {
            $0.addressAsHost()
        },
        refused(
            "ip-as-dns-san", "the address in the URL as text in a dNSName", [],
            "an address is proved by an iPAddress only", "RFC 9525 §6.5",
            setting: { $0.addressAsHost() }, fault: { $0.recipe.names = [.dns($0.host)] }),
        named(
            "no-sni-for-address", "another certificate to who sends an address as server name",
            "an address is no server name", "RFC 6066 §3"
        ) {
            $0.addressAsHost()
            $0.others[$0.host] = TestRecipe(["other.lab.test"], commonName: "lab")
        },
        named(
            "sni-required", "another certificate to who sends no server name",
            "a client sends the name it means", "RFC 8446 §9.2"
        ) {
            $0.others[$0.host] = $0.recipe
            $0.recipe = TestRecipe(["other.lab.test"], commonName: "lab")
        },
        refused(
            "wrong-sni-answered", "a neighbour's certificate, whatever name is sent", [],
            "a neighbour on the same server is somebody else", "RFC 9525 §6.3",
            setting: { $0.others["neighbour.lab.test"] = neighbour },
            fault: {
                $0.others[$0.host] = neighbour
            }),
    ]

    private static let ascii = "xn--bcher-kva"

    private static let neighbour = TestRecipe(["neighbour.lab.test"], commonName: "lab")

    private static let deeper: Change = { plan in
        plan.host = "deep." + plan.host
        plan.recipe.names = [.dns(plan.host)]
    }

    private static func refused(
        _ name: String, _ deed: String, _ badssl: [String], _ why: String, _ rule: String,
        _ codes: String..., setting: @escaping Change = { _ in }, fault: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .names, deed: deed,
            expectation: LabExpectation(
                verdict: .refuse, why: why, rule: rule,
                codes: codes.isEmpty ? ["wrong_name"] : codes),
            needs: [], badssl: badssl, setting: setting, fault: fault)
    }

    private static func named(
        _ name: String, _ deed: String, _ why: String, _ rule: String, _ setting: @escaping Change
    ) -> LabScenario {
        LabScenario(
            name: name, group: .names, deed: deed, expectation: .accept(why, rule), needs: [],
            badssl: [], setting: setting, fault: nil)
    }
}
