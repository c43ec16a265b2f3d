/// Questions that wait for a free place, first come first served.
struct WaitingQuestions {
    private var questions: [DatagramQuestion.ID: DatagramQuestion] = [:]
    private var order: [DatagramQuestion.ID] = []
    private var next = 0

    var count: Int { questions.count }

    func contains(_ id: DatagramQuestion.ID) -> Bool { questions[id] != nil }

    mutating func append(_ question: DatagramQuestion) {
        // Under steady load the line is never empty: who has left it must not pile up.
        if order.count >= 2 * questions.count + Self.spareIDs {
            order = order[next...].filter { questions[$0] != nil }
            next = 0
        }
        questions[question.id] = question
        order.append(question.id)
    }

    mutating func remove(_ id: DatagramQuestion.ID) -> DatagramQuestion? {
        questions.removeValue(forKey: id)
    }

    mutating func popFirst() -> DatagramQuestion? {
        while next < order.count {
            let id = order[next]
            next += 1
            // Removed meanwhile: its turn is passed over.
            if let question = questions.removeValue(forKey: id) { return question }
        }
        order.removeAll(keepingCapacity: true)
        next = 0
        return nil
    }

    /// Because: below that, looking for who has left costs more than they do.
    private static let spareIDs = 1_024
}
