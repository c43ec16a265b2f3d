/// Which faults hold for which request: step by step, then for good.
struct FaultScript: Sendable {
    private var steps: ArraySlice<Set<LabServiceFault>>
    private let rest: Set<LabServiceFault>
    private let forms: Set<LabServiceForm>?

    /// Counts, and fails, only questions of these forms; nil for all, with those of no form.
    init(
        _ steps: [Set<LabServiceFault>] = [], then rest: Set<LabServiceFault> = [],
        only forms: Set<LabServiceForm>? = nil
    ) {
        self.steps = steps[...]
        self.rest = rest
        self.forms = forms
    }

    /// Takes the faults of the next request.
    mutating func next(_ form: LabServiceForm?) -> Set<LabServiceFault> {
        if let forms {
            guard let form, forms.contains(form) else { return [] }
        }
        return steps.popFirst() ?? rest
    }

    /// The certificate of the next handshake. A step with a bad one ends here: no request follows
    /// from a client that looks.
    mutating func nextCertificate() -> LabCertificateFault? {
        let faults = steps.first ?? rest
        for fault in faults {
            guard case .certificate(let kind) = fault else { continue }
            _ = steps.popFirst()
            return kind
        }
        return nil
    }
}
