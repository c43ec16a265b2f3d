import HTTPDNSLookup
import HTTPDNSNames
import HTTPDNSStore
import TestSupport
import Testing

@Suite struct StoreTimeTests {
    let lab: StoreLab
    let question: Question

    /// One answer with a life of 100 s, kept at wall time 1,800,000,000 in the boot "first".
    init() async throws {
        lab = try StoreLab()
        let testimony = try answer()
        question = testimony.question
        let store = lab.open()
        store.keep(testimony, scope: "", lifeSeconds: 100)
        await store.flush()
    }

    private func left() async -> [UInt32]? {
        await lab.open().found(question).map { [$0.secondsLeft, $0.secondsOver] }
    }

    private func setWall(after seconds: Int64) {
        lab.wall.set(WallTime(secondsSince1970: 1_800_000_000 + seconds))
    }

    @Test func `life passes with the clock of the boot, rounded against the answer`() async {
        lab.boot.advance(milliseconds: 40_500)
        #expect(await left() == [59, 0])
    }

    @Test(arguments: [-1_000_000, 1_000_000, Int64.min / 2, Int64.max / 2] as [Int64])
    func `a wall clock that was set changes nothing within a boot`(seconds: Int64) async {
        setWall(after: seconds)
        lab.boot.advance(milliseconds: 10_000)
        #expect(await left() == [90, 0])
    }

    @Test func `across boots the wall clock tells the age`() async {
        lab.boot.reboot(milliseconds: 1, bootID: "second")
        setWall(after: 30)
        #expect(await left() == [70, 0])
    }

    @Test func `a clock that went back over a reboot drops the answer for good`() async {
        lab.boot.reboot(milliseconds: 1, bootID: "second")
        setWall(after: -1)
        #expect(await left() == nil)
        setWall(after: 1)
        #expect(await left() == nil)
    }

    @Test func `a clock of the boot that went back drops the answer`() async {
        lab.boot.reboot(milliseconds: 1, bootID: "first")
        #expect(await left() == nil)
    }

    @Test func `without a name for the boot the wall clock tells the age`() async throws {
        lab.boot.reboot(milliseconds: 0, bootID: "")
        let testimony = try answer("other.test")
        let store = lab.open()
        store.keep(testimony, scope: "", lifeSeconds: 100)
        await store.flush()
        lab.boot.advance(milliseconds: 90_000)
        setWall(after: 20)
        #expect(await lab.open().found(testimony.question)?.secondsLeft == 80)
    }

    @Test func `an answer whose life is over says for how long`() async {
        lab.boot.advance(milliseconds: 100_000)
        #expect(await left() == [0, 0])
        lab.boot.advance(milliseconds: 12_300)
        #expect(await left() == [0, 12])
    }

    @Test func `an answer that is over for more than three days is gone`() async {
        lab.boot.advance(milliseconds: 100_000 + 259_200_000)
        #expect(await left() == [0, 259_200])
        lab.boot.advance(milliseconds: 1_000)
        #expect(await left() == nil)
        lab.boot.advance(milliseconds: -200_000_000)
        #expect(await left() == nil)
    }

    @Test func `what nobody can use is removed when something is kept`() async throws {
        lab.boot.reboot(milliseconds: 1, bootID: "second")
        setWall(after: 400_000)
        let store = lab.open()
        store.keep(try answer("new.test"), scope: "", lifeSeconds: 5)
        await store.flush()
        #expect(await store.contents()?.answers == 1)
    }

    @Test func `the longest life does not overflow`() async throws {
        lab.wall.set(WallTime(secondsSince1970: .max - 5))
        let testimony = try answer("long.test")
        let store = lab.open()
        store.keep(testimony, scope: "", lifeSeconds: .max)
        await store.flush()
        #expect(await lab.open().found(testimony.question)?.secondsLeft == .max)
    }
}
