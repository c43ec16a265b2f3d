import HTTPDNSDatagram
import Testing

@Suite struct ResolvConfTests {
    @Test func `nameserver lines are read in order, each server once`() {
        let conf = ResolvConf(
            parsing: """
                # nameserver 192.0.2.9
                search example.test
                nameserver 192.0.2.1
                nameserver\t2001:db8::1   ignored
                nameserver fe80::1%eth0
                nameserver 192.0.2.1
                options ndots:2
                """)
        #expect(
            conf.servers.map { $0.dnsServerText }
                == ["192.0.2.1:53", "[2001:db8::1]:53", "[fe80::1%eth0]:53"])
        #expect(conf.skippedLines == [])
    }

    @Test func `bad lines are skipped and named`() {
        let conf = ResolvConf(
            parsing:
                "nameserver\r\nnameserver 010.1.1.1\r\nnameserver dns.test\r\nnameserver ::1\r\n")
        #expect(conf.servers.map { $0.dnsServerText } == ["[::1]:53"])
        #expect(conf.skippedLines == [1, 2, 3])
    }

    @Test(arguments: ["", "search example.test", "nameserver", "\u{0}", ";nameserver 192.0.2.1"])
    func `without a usable line the server on this machine is meant`(text: String) {
        #expect(ResolvConf(parsing: text).servers.map { $0.dnsServerText } == ["127.0.0.1:53"])
    }
}
