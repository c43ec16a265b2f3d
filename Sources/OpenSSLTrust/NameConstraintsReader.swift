internal import CHTTPDNSOpenSSL
internal import HTTPDNSTrust

/// Reads name constraints, and the names that are only held against them, into typed values.
enum NameConstraintsReader {
    /// Nil when the certificate has none.
    static func constraints(of raw: OpaquePointer) -> NameConstraints? {
        var found: Int32 = 0
        guard let parsed = X509_get_ext_d2i(raw, NID_name_constraints, &found, nil) else {
            return found == -1
                ? nil : NameConstraints(fault: "name constraints malformed or there twice")
        }
        let all = parsed.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(all) }
        var constraints = NameConstraints()
        let permitted = chttpdns_subtrees_count(all, 0)
        let excluded = chttpdns_subtrees_count(all, 1)
        // Each list has an entry, and one of the two is there.
        guard permitted != 0, excluded != 0, permitted > 0 || excluded > 0 else {
            return NameConstraints(fault: "empty name constraints")
        }
        guard max(permitted, excluded) <= mostSubtrees else {
            return NameConstraints(fault: "more than \(mostSubtrees) name constraints")
        }
        for index in 0..<max(0, permitted) {
            switch subtree(all, isExcluded: false, index) {
            case .success(let tree): constraints.permitted.append(tree)
            case .failure(let fault): return NameConstraints(fault: fault.text)
            }
        }
        for index in 0..<max(0, excluded) {
            switch subtree(all, isExcluded: true, index) {
            case .success(let tree): constraints.excluded.append(tree)
            case .failure(let fault): return NameConstraints(fault: fault.text)
            }
        }
        return constraints
    }

    /// Because: held against a single name, more would reach the bound of ``ChainRules`` too.
    private static let mostSubtrees: Int32 = 10_000

    private struct Fault: Error {
        let text: String
    }

    private static func subtree(
        _ all: UnsafePointer<NAME_CONSTRAINTS>, isExcluded: Bool, _ index: Int32
    ) -> Result<NameConstraints.Subtree, Fault> {
        var start: UnsafePointer<UInt8>?
        var count = 0
        var directory: OpaquePointer?
        var hasDistances: Int32 = 0
        let kind = chttpdns_subtree_at(
            all, isExcluded ? 1 : 0, index, &start, &count, &directory, &hasDistances)
        // Source: RFC 5280 §4.2.1.10: minimum 0, no maximum.
        guard hasDistances == 0 else {
            return .failure(Fault(text: "a name constraint with a distance"))
        }
        let octets = Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
        let tree: NameConstraints.Subtree? =
            switch kind {
            case GEN_DNS: NameConstraints.DomainTree(octets).map { .dns($0) }
            case GEN_URI: NameConstraints.DomainTree(octets).map { .uri($0) }
            case GEN_EMAIL: NameConstraints.EmailTree(octets).map { .email($0) }
            case GEN_IPADD: NameConstraints.AddressTree(octets).map { .address($0) }
            case GEN_DIRNAME: directory.map { .directory(directoryName($0)) }
            default: .opaque(self.kind(kind))
            }
        guard let tree else {
            return .failure(
                Fault(text: "the name constraint \"\(NameMatcher.escaped(octets))\" is malformed"))
        }
        return .success(tree)
    }

    private static func kind(_ kind: Int32) -> NameConstraints.Kind {
        switch kind {
        case GEN_X400: .x400
        case GEN_EDIPARTY: .ediParty
        case GEN_RID: .registeredID
        default: .other
        }
    }

    /// The names that no host can have.
    static func otherNames(of raw: OpaquePointer) -> CertificateParticulars.OtherNames {
        var names = CertificateParticulars.OtherNames()
        let subject = X509_get_subject_name(raw)
        if let subject, X509_NAME_entry_count(subject) > 0 {
            names.directories.append(directoryName(subject))
        }
        guard let list = X509_get_ext_d2i(raw, NID_subject_alt_name, nil, nil) else {
            // Source: RFC 5280 §4.2.1.10: without a SAN the subject's addresses are constrained.
            names.emails = subject.map(emails) ?? []
            return names
        }
        let entries = OpaquePointer(list)
        defer { GENERAL_NAMES_free(entries) }
        for index in 0..<max(0, chttpdns_names_count(entries)) {
            var start: UnsafePointer<UInt8>?
            var count = 0
            let kind = chttpdns_name_at(entries, index, &start, &count)
            let octets = Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
            switch kind {
            case GEN_DNS, GEN_IPADD: break
            case GEN_EMAIL: names.emails.append(octets)
            case GEN_URI: names.uris.append(octets)
            case GEN_DIRNAME:
                guard let name = chttpdns_directory_name_at(entries, index) else { break }
                names.directories.append(directoryName(name))
            default: names.kinds.insert(self.kind(kind))
            }
        }
        return names
    }

    private static func emails(_ subject: OpaquePointer) -> [[UInt8]] {
        var emails: [[UInt8]] = []
        var index = X509_NAME_get_index_by_NID(subject, NID_pkcs9_emailAddress, -1)
        while index >= 0 {
            if let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)) {
                emails.append(text(of: value))
            }
            index = X509_NAME_get_index_by_NID(subject, NID_pkcs9_emailAddress, index)
        }
        return emails
    }

    /// Each relative name as its attributes, sorted: identifier, length, folded value.
    private static func directoryName(_ name: OpaquePointer) -> DirectoryName {
        var sets: [Int32: [[UInt8]]] = [:]
        for index in 0..<max(0, X509_NAME_entry_count(name)) {
            guard let entry = X509_NAME_get_entry(name, index) else { continue }
            sets[X509_NAME_ENTRY_set(entry), default: []].append(attribute(entry))
        }
        return DirectoryName(
            sets.sorted { $0.key < $1.key }.map { _, attributes in
                attributes.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
            })
    }

    private static func attribute(_ entry: OpaquePointer) -> [UInt8] {
        let object = X509_NAME_ENTRY_get_object(entry)
        let identifier = Array(
            UnsafeBufferPointer(start: OBJ_get0_data(object), count: OBJ_length(object)))
        let value = X509_NAME_ENTRY_get_data(entry).map { folded(text(of: $0)) } ?? []
        var octets: [UInt8] = []
        for part in [identifier, value] {
            for shift in [24, 16, 8, 0] {
                octets.append(UInt8(truncatingIfNeeded: part.count >> shift))
            }
            octets += part
        }
        return octets
    }

    /// UTF-8 where the value is a string of any alphabet, else its octets.
    static func text(of value: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        var converted: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&converted, value)
        guard count >= 0, let converted else {
            let data = ASN1_STRING_get0_data(value)
            return Array(
                UnsafeBufferPointer(
                    start: data, count: data == nil ? 0 : Int(ASN1_STRING_length(value))))
        }
        defer { CRYPTO_free(converted, #file, #line) }
        return Array(UnsafeBufferPointer(start: converted, count: Int(count)))
    }

    /// Case and white space folded, as OpenSSL compares names. Source: RFC 5280 §7.1.
    private static func folded(_ text: [UInt8]) -> [UInt8] {
        let isSpace = { (octet: UInt8) in octet == 0x20 || (0x09...0x0D).contains(octet) }
        return Array(
            text.split(whereSeparator: isSpace).joined(separator: [0x20]).map {
                (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
            })
    }
}
