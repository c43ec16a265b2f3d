import Glibc
import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSStore
import HTTPDNSWire
import TestSupport
import Testing

@Suite struct StoreBoundsTests {
    @Test func `beyond its number of answers those that end first go`() async throws {
        let lab = try StoreLab()
        let store = lab.open(limits: StoreLimits(maximumAnswers: 64, maximumOctets: 1 << 20))
        for number in 0..<500 {
            let testimony = try ProvenAnswers.testimony(number, round: 1)
            store.keep(testimony, scope: "", lifeSeconds: UInt32(1_000 + number))
            if number.isMultiple(of: 10) { await store.flush() }
        }
        await store.flush()
        let answers = try #require(await store.contents()?.answers)
        #expect(answers <= 64)
        #expect(answers >= 55)
        #expect(await store.found(try ProvenAnswers.question(499)) != nil)
        #expect(await store.found(try ProvenAnswers.question(0)) == nil)
    }

    @Test func `beyond its octets answers go, however large one is`() async throws {
        let lab = try StoreLab()
        let limits = StoreLimits(maximumAnswers: 10_000, maximumOctets: 100_000)
        let store = lab.open(limits: limits)
        let long = [[UInt8]](repeating: [UInt8](repeating: 7, count: 250), count: 100)
        for number in 0..<40 {
            let testimony = try answer("n\(number).test", type: .txt, data: .txt(long))
            store.keep(testimony, scope: "", lifeSeconds: UInt32(100 + number))
            await store.flush()
        }
        let contents = try #require(await store.contents())
        #expect(contents.octets <= 100_000)
        #expect(contents.answers >= 2)
        #expect(fileOctets(lab.path) < 1_000_000)
    }

    @Test func `a limit of nothing keeps one answer at most`() async throws {
        let store = try StoreLab().open(limits: StoreLimits(maximumAnswers: -1, maximumOctets: 0))
        for number in 0..<10 {
            store.keep(try answer("n\(number).test"), scope: "", lifeSeconds: 5)
            await store.flush()
        }
        #expect(try #require(await store.contents()?.answers) <= 1)
    }

    @Test func `file, log and index are for their owner alone`() async throws {
        let lab = try StoreLab()
        let store = lab.open()
        store.keep(try answer(), scope: "", lifeSeconds: 5)
        await store.flush()
        #expect(rights(lab.directory.path + "/inner") == 0o700)
        for suffix in ["", "-wal", "-shm"] { #expect(rights(lab.path + suffix) == 0o600) }
    }

    @Test func `a file that others could read is closed to them`() async throws {
        let lab = try StoreLab()
        try lab.directory.makeDirectory("inner")
        try lab.directory.write("inner/answers.db", "")
        chmod(lab.path, 0o666)
        let store = lab.open()
        store.keep(try answer(), scope: "", lifeSeconds: 5)
        await store.flush()
        for suffix in ["", "-wal", "-shm"] { #expect(rights(lab.path + suffix) == 0o600) }
    }

    @Test func `a link in the file's place is refused`() async throws {
        let lab = try StoreLab()
        try lab.directory.makeDirectory("inner")
        let target = try lab.directory.write("target", "")
        symlink(target, lab.path)
        let store = lab.open()
        let testimony = try answer()
        store.keep(testimony, scope: "", lifeSeconds: 5)
        await store.flush()
        #expect(await store.found(testimony.question) == nil)
        #expect(fileOctets(target) == 0)
        #expect(lab.reported.count == 1)
    }

    @Test func `a store that cannot be opened is quiet, says so once, and tries again`()
        async throws
    {
        let lab = try StoreLab()
        // A file stands where the directory should be.
        let blocker = try lab.directory.write("inner", "")
        let store = lab.open()
        let testimony = try answer()
        for _ in 0..<3 {
            store.keep(testimony, scope: "", lifeSeconds: 50)
            await store.flush()
            #expect(await store.found(testimony.question) == nil)
            lab.clock.advance(milliseconds: 60_001)
        }
        #expect(lab.reported.map { $0.label } == ["quiet"])
        unlink(blocker)
        store.keep(testimony, scope: "", lifeSeconds: 50)
        await store.flush()
        #expect(await store.found(testimony.question)?.testimony == testimony)
        #expect(lab.reported.last == .recovered(path: lab.path))
    }

    private func rights(_ path: String) -> UInt32? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & 0o777 : nil
    }

    private func fileOctets(_ path: String) -> Int {
        var facts = stat()
        return lstat(path, &facts) == 0 ? Int(facts.st_size) : -1
    }
}
