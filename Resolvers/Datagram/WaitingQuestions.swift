/// Questions that wait for a free place, first come first served.
struct WaitingQuestions {
    private var questions: [DatagramQuestion.ID: DatagramQuestion] = [:]
    private var order: [DatagramQuestion.ID] = []
    private var next = 0

    var count: Int { questions.count }

    mutating func append(_ question: DatagramQuestion) {
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
}
