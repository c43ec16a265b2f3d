import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// Everything that a client of URLSession can see, and everything that its server sees, is the same with
/// the stock loader and with ours, but for what is listed with its reason.
@Suite(.timeLimit(.minutes(2))) struct DifferentialTests {
    @Test(arguments: ClientScenarios.all)
    func `a client cannot tell the loaders apart`(_ scenario: ClientScenario) async throws {
        let (stock, ours) = try await TwoSessions().traces(of: scenario)
        #expect(!ours.isEmpty)
        var onlyStock: [String] = []
        var onlyOurs: [String] = []
        for change in ours.difference(from: stock) {
            switch change {
            case .remove(_, let line, _): onlyStock.append(line)
            case .insert(_, let line, _): onlyOurs.append(line)
            }
        }
        #expect(onlyStock.sorted() == scenario.differs.stock.sorted())
        #expect(onlyOurs.sorted() == scenario.differs.ours.sorted())
    }
}
