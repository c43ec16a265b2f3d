internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSWire

/// The questions of one request as the protocols word them: names, and families for all of them.
struct AskedNames {
    /// Each once, in the order asked.
    let names: [HostName]
    /// IPv4 first; at least one.
    let families: [IPAddress.Family]
    let clientSubnet: AddressBlock?
    let serviceParameters: ServiceParameters

    /// - Throws: ``QueryFailure/unsupportedType(_:)``.
    init(_ questions: [Question], maximumNames: Int) throws(QueryFailure) {
        var names: [HostName] = []
        var families: Set<IPAddress.Family> = []
        for question in questions {
            guard let family = question.type.addressFamily else {
                throw .unsupportedType(question.type)
            }
            families.insert(family)
            if !names.contains(question.name) { names.append(question.name) }
        }
        guard !names.isEmpty, names.count <= maximumNames else {
            throw .unexpected("AskedNames: \(names.count) names for one request")
        }
        self.names = names
        self.families = [.ipv4, .ipv6].filter { families.contains($0) }
        clientSubnet = questions.first?.clientSubnet
        serviceParameters = questions.first?.serviceParameters ?? .none
    }

    var wantsBoth: Bool { families.count == 2 }

    /// `a.example,b.example`, as signatures take it.
    var joined: String { names.map(\.text).joined(separator: ",") }
}
