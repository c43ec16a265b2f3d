import Glibc
import HTTPDNSDatagram
import HTTPDNSLookup
import HTTPDNSNames
import TestSupport
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

    @Test(arguments: [
        "", "search example.test", "nameserver", "\u{0}", ";nameserver 192.0.2.1",
        " nameserver 192.0.2.1", "nameserver192.0.2.1", "NAMESERVER 192.0.2.1",
    ])
    func `without a usable line the server on this machine is meant`(text: String) {
        #expect(ResolvConf(parsing: text).servers.map { $0.dnsServerText } == ["127.0.0.1:53"])
    }

    @Test func `the first three servers count`() {
        let text = (1...9).map { "nameserver 192.0.2.\($0)" }.joined(separator: "\n")
        #expect(ResolvConf(parsing: text).servers.count == 3)
    }

    @Test func `the last of search and domain counts`() {
        let first = ResolvConf(parsing: "search a.test b.test.\ndomain c.test d.test")
        #expect(first.search.map { $0.text } == ["c.test"])
        let second = ResolvConf(parsing: "domain c.test\nsearch a.test b.test. . bad..name")
        #expect(second.search.map { $0.text } == ["a.test", "b.test"])
        #expect(second.skippedLines == [2])
        #expect(second.searchList.suffixes == second.search)
    }

    @Test func `options are read from every line, within their bounds`() {
        let plain = ResolvConf(parsing: "nameserver 192.0.2.1")
        #expect([plain.ndots, plain.timeoutSeconds, plain.attempts] == [1, 5, 2])
        #expect(plain.options == [])
        let conf = ResolvConf(
            parsing: """
                options ndots:0 timeout:99 rotate inet6
                options attempts:0 use-vc edns0 trust-ad no-aaaa unknown:5
                """)
        #expect([conf.ndots, conf.timeoutSeconds, conf.attempts] == [0, 30, 1])
        #expect(conf.options == Set(ResolvConf.Flag.allCases))
        #expect(conf.skippedLines == [])
        let odd = ResolvConf(
            parsing: "options ndots:-1 timeout:x attempts:99999999999999999999 ndots: ndots")
        #expect([odd.ndots, odd.timeoutSeconds, odd.attempts] == [1, 5, 5])
        #expect(odd.skippedLines == [1])
    }
}

@Suite struct ResolvConfWatcherTests {
    let directory: TemporaryDirectory
    let clock = FakeClock()
    let watcher: ResolvConfWatcher

    init() throws {
        directory = try TemporaryDirectory()
        watcher = ResolvConfWatcher(path: directory.path + "/resolv.conf", clock: clock)
    }

    private var first: String? { watcher.current().servers.first?.address.description }

    @Test func `a file that was rewritten is read again after a second`() throws {
        try directory.write("resolv.conf", "nameserver 192.0.2.1")
        #expect(first == "192.0.2.1")
        try directory.write("resolv.conf", "nameserver 192.0.2.20")
        clock.advance(milliseconds: 999)
        #expect(first == "192.0.2.1")
        clock.advance(milliseconds: 1)
        #expect(first == "192.0.2.20")
        #expect(watcher.reloads == 2)
    }

    @Test func `a file that was replaced by one of its size is read again`() throws {
        try directory.write("resolv.conf", "nameserver 192.0.2.1")
        #expect(first == "192.0.2.1")
        let new = try directory.write("new", "nameserver 192.0.2.2")
        rename(new, watcher.path)
        clock.advance(milliseconds: 1_000)
        #expect(first == "192.0.2.2")
    }

    @Test func `a file that is as it was is not read again`() throws {
        try directory.write("resolv.conf", "nameserver 192.0.2.1")
        for _ in 0..<5 {
            _ = watcher.current()
            clock.advance(milliseconds: 1_000)
        }
        #expect(watcher.reloads == 1)
    }

    @Test func `a missing file means this machine, until it is there`() throws {
        #expect(first == "127.0.0.1")
        try directory.write("resolv.conf", "nameserver 192.0.2.1")
        #expect(watcher.reload().servers.first?.address.description == "192.0.2.1")
        unlink(watcher.path)
        clock.advance(milliseconds: 1_000)
        #expect(first == "127.0.0.1")
    }
}
