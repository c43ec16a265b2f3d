/// One task of the soak, drawn from the seed: what it is, what the server does, what is done to it.
struct SoakedTask: Sendable {
    enum Kind: CaseIterable, Sendable { case data, uploadData, uploadFile, uploadStream, download }
    enum Style: CaseIterable, Sendable { case handler, async, delegate }
    enum Meddling: CaseIterable, Sendable {
        case none, cancel, suspend, suspendAndCancel, resumeTwice
    }
    /// What the server does about it.
    enum Fault: String, CaseIterable, Sendable {
        case small, large, pieces, moved, missing, challenged, cut, reset, stalled, silent, garbled
    }

    let number: Int
    let kind: Kind
    let style: Style
    let fault: Fault
    let meddling: Meddling
    /// When the meddling happens, from the moment the task is resumed.
    let afterMicroseconds: Int

    init(_ number: Int, _ numbers: inout SeededNumbers) {
        self.number = number
        var kind = Kind.allCases[numbers.below(Kind.allCases.count)]
        let style = Style.allCases[numbers.below(Style.allCases.count)]
        // Only a delegate can be asked for a stream.
        if kind == .uploadStream, style != .delegate { kind = .data }
        self.kind = kind
        self.style = style
        // Half of the answers are whole, so that bodies are compared as well.
        fault =
            numbers.below(2) == 0
            ? [.small, .large, .pieces, .moved][numbers.below(4)]
            : Fault.allCases[numbers.below(Fault.allCases.count)]
        meddling =
            numbers.below(2) == 0
            ? .none : Meddling.allCases[numbers.below(Meddling.allCases.count)]
        afterMicroseconds = numbers.below(30_000)
    }

    /// The codes that the task may end with; nil for success.
    func mayEnd(with code: Int?) -> Bool {
        guard let code else { return fault.canSucceed }
        if code == -999 { return meddling == .cancel || meddling == .suspendAndCancel }
        switch fault {
        case .cut, .reset: return code == -1005
        case .stalled, .silent: return code == -1001
        case .garbled: return code == -1011
        case .small, .large, .pieces, .moved, .missing, .challenged: return false
        }
    }
}

extension SoakedTask.Fault {
    var canSucceed: Bool {
        switch self {
        case .small, .large, .pieces, .moved, .missing, .challenged: true
        case .cut, .reset, .stalled, .silent, .garbled: false
        }
    }

    /// Octets of the body of a success, without what an upload echoes.
    var octets: Int {
        switch self {
        case .small, .moved, .challenged: 100
        case .large: 300_000
        case .pieces: 5_000
        case .missing: 9
        case .cut, .reset, .stalled, .silent, .garbled: 0
        }
    }
}
