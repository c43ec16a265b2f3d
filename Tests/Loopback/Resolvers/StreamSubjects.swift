import HTTPDNSLookup

/// Encrypted DNS on the engine of our own, each form against a server of ``ContractZone``.
let streamSubjects: [ContractSubject] = [
    ContractSubject("DoT") {
        let lab = try StreamLab()
        let server = try StreamForm.dot.server(lab)
        return OpenedSubject(
            try StreamForm.dot.backend(lab, at: server), keeping: StreamHolder(lab, server))
    },
    ContractSubject("DoH over our own HTTP/2") {
        let lab = try StreamLab()
        let server = try StreamForm.doh.server(lab)
        return OpenedSubject(
            try StreamForm.doh.backend(lab, at: server), keeping: StreamHolder(lab, server))
    },
]

private struct StreamHolder: Sendable {
    let lab: StreamLab
    let server: RawTLSServer

    init(_ lab: StreamLab, _ server: RawTLSServer) {
        self.lab = lab
        self.server = server
    }
}
