/// The certificates of a service that can show bad ones.
struct LabIdentities: Sendable {
    let right: TestIdentity
    private let wrong: [LabCertificateFault: TLSContext]

    /// Mints them all.
    init(_ names: [TestName], _ authority: TestAuthority) throws(LabError) {
        right = try authority.leaf(names)
        var wrong: [LabCertificateFault: TLSContext] = [:]
        for fault in LabCertificateFault.allCases {
            wrong[fault] = try TLSContext(
                try LabIdentities.identity(fault, names, authority), versions: .current)
        }
        self.wrong = wrong
    }

    func context(_ fault: LabCertificateFault) -> TLSContext? { wrong[fault] }

    private static func identity(
        _ fault: LabCertificateFault, _ names: [TestName], _ authority: TestAuthority
    ) throws(LabError) -> TestIdentity {
        switch fault {
        case .wrongName: return try authority.leaf(["wrong.example.test"])
        case .expired: return try authority.leaf(names, validity: .expired)
        case .selfSigned: return try TestAuthority.selfSigned(names)
        case .missingIntermediate:
            var leaf = try authority.intermediate("Unsent Intermediate").leaf(names)
            leaf.issuers = []
            return leaf
        }
    }
}
