internal import CHTTPDNSOpenSSL
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// The trusted roots of one ``TrustPolicy/Roots`` value in an `X509_STORE`, shared by all verifiers
/// of the process that use the value and loaded before any handshake.
///
/// Because: reading the system's bundle takes 40 to 80 ms, for every connection if it is left to
/// libcurl. Source: measured, libcurl 7.88.1.
final class RootStore: @unchecked Sendable {
    // Safety: an X509_STORE locks itself; it is not configured after `init`.
    let raw: OpaquePointer
    /// The policy's own roots and those that were added, each by themselves and from the same reading;
    /// nil where none were added.
    let parts: (own: Part, added: Part)?
    /// What the machine's owner has added to the system's roots, where these are among them; of the same
    /// reading.
    let local: LocalRoots?
    /// Tells one reading of a file or directory from a later one; nil where the value says all.
    ///
    /// What a proof under the old roots is worth under the new ones nobody knows.
    let edition: UInt64?
    /// Tells this reading from every other in the process, of the system's roots and of texts, too.
    let generation = RootStore.lastGeneration.withLock { last in
        last += 1
        return last
    }

    /// The store of `roots`: the one in use if there is one, else loaded now.
    ///
    /// A file is read once while a verifier uses it: what changes in it later is not seen.
    static func shared(
        _ roots: TrustPolicy.Roots, and added: TrustPolicy.Roots? = nil
    ) throws(TrustSetupError) -> RootStore {
        let key = Key(roots: roots, added: added)
        if let store = stores.withLock({ $0.store(for: key) }) { return store }
        let loaded = try RootStore(
            roots, and: added, local: roots == .system ? LocalRoots.shared : nil,
            environment: { environment($0) })
        return stores.withLock { $0.keep(loaded, for: key) }
    }

    /// Reads all roots of `policy` anew, in place of those in use for later verifiers.
    ///
    /// - Throws: ``TrustSetupError``: then nothing was replaced.
    static func reread(_ policy: TrustPolicy) throws(TrustSetupError) -> [RootStore] {
        var keys: Set<Key> = [Key(roots: policy.roots, added: policy.userRoots)]
        for roots in policy.rootsByHost.values {
            // As PolicyMaterial has them.
            keys.insert(Key(roots: roots, added: roots == .system ? policy.userRoots : nil))
        }
        let local = keys.contains { $0.roots == .system } ? LocalRoots.read() : nil
        var fresh: [(key: Key, store: RootStore)] = []
        for key in keys {
            let store = try RootStore(
                key.roots, and: key.added, local: key.roots == .system ? local : nil,
                isReread: true, environment: { environment($0) })
            fresh.append((key, store))
        }
        if let local { LocalRoots.keep(local) }
        stores.withLock { stores in
            for (key, store) in fresh { stores.replace(by: store, for: key) }
        }
        return fresh.map(\.store)
    }

    /// Loads `roots`; `environment` gives the value of an environment variable.
    ///
    /// - Throws: ``TrustSetupError``.
    init(
        _ roots: TrustPolicy.Roots, and added: TrustPolicy.Roots? = nil,
        local: LocalRoots? = nil, isReread: Bool = false, environment: (String) -> String?
    ) throws(TrustSetupError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        self.local = local
        parts = added == nil ? nil : (try Part(), try Part())
        guard let raw = X509_STORE_new() else { throw .unexpected(LastError.text) }
        self.raw = raw
        edition = RootStore.edition(of: [roots] + (added.map { [$0] } ?? []), isReread: isReread)
        try Filling(stores: [raw] + (parts.map { [$0.own.raw] } ?? [])).add(roots, environment)
        guard let added, let parts else { return }
        try Filling(stores: [raw, parts.added.raw]).add(added, environment)
    }

    /// Some of the roots.
    final class Part: @unchecked Sendable {
        // Safety: an X509_STORE locks itself; it is not configured after ``RootStore/init``.
        fileprivate let raw: OpaquePointer

        fileprivate init() throws(TrustSetupError) {
            guard let raw = X509_STORE_new() else { throw .unexpected(LastError.text) }
            self.raw = raw
        }

        deinit { X509_STORE_free(raw) }

        func holds(_ certificate: Certificate) -> Bool {
            chttpdns_store_holds(raw, certificate.raw) == 1
        }
    }

    deinit { X509_STORE_free(raw) }

    private struct Key: Hashable {
        let roots: TrustPolicy.Roots
        let added: TrustPolicy.Roots?

        static let system = Key(roots: .system, added: nil)
    }

    private struct Stores {
        private struct Weak { weak var store: RootStore? }
        private var weakly: [Key: Weak] = [:]
        private var system: RootStore?

        func store(for key: Key) -> RootStore? {
            key == .system ? system : weakly[key]?.store
        }

        /// Keeps `loaded`, unless another thread was faster; the system's roots for good.
        mutating func keep(_ loaded: RootStore, for key: Key) -> RootStore {
            if let present = store(for: key) { return present }
            if key == .system {
                system = loaded
            } else {
                weakly = weakly.filter { $0.value.store != nil }
                weakly[key] = Weak(store: loaded)
            }
            return loaded
        }

        mutating func replace(by loaded: RootStore, for key: Key) {
            if key == .system {
                system = loaded
            } else {
                weakly = weakly.filter { $0.value.store != nil }
                weakly[key] = Weak(store: loaded)
            }
        }
    }

    private static let stores = Locked(Stores())
    private static let lastEdition = Locked<UInt64>(0)
    private static let lastGeneration = Locked<UInt64>(0)

    private static func edition(of sources: [TrustPolicy.Roots], isReread: Bool) -> UInt64? {
        let mayChange = sources.contains { roots in
            switch roots {
            // The system's roots are read once and kept, until somebody wants them read anew.
            case .system: isReread
            case .pem: false
            case .file, .directory: true
            }
        }
        guard mayChange else { return nil }
        return lastEdition.withLock { last in
            last += 1
            return last
        }
    }

    static func environment(_ name: String) -> String? {
        guard let value = chttpdns_environment(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}

/// Puts roots into stores, each from one reading.
private struct Filling {
    let stores: [OpaquePointer]

    func add(
        _ roots: TrustPolicy.Roots, _ environment: (String) -> String?
    ) throws(TrustSetupError) {
        switch roots {
        case .system: try addSystem(environment)
        case .file(let path): try addFile(path)
        case .directory(let path): try addDirectory(path)
        case .pem(let text): try addPEM(text)
        }
    }

    /// `SSL_CERT_DIR` replaces the directory and `SSL_CERT_FILE` the file, each by itself, as in
    /// OpenSSL. A hashed directory is read as it is needed, so that nothing is loaded up front.
    private func addSystem(_ environment: (String) -> String?) throws(TrustSetupError) {
        let file = environment(String(cString: X509_get_default_cert_file_env()))
        if let file { try addFile(file) }
        if let directories = environment(String(cString: X509_get_default_cert_dir_env())) {
            try addLookup(directories)
            return
        }
        let directories = [
            Filling.usualDirectory, String(cString: X509_get_default_cert_dir()),
        ]
        if let hashed = directories.first(where: { chttpdns_is_hashed_directory($0) == 1 }) {
            try addLookup(hashed)
            return
        }
        guard file == nil else { return }
        let bundles = [String(cString: X509_get_default_cert_file())] + Filling.usualBundles
        for bundle in bundles {
            do { return try addFile(bundle) } catch { continue }
        }
        throw .noSystemRoots(tried: directories + bundles)
    }

    /// Source: Debian ca-certificates, and most others link to it.
    private static let usualDirectory = "/etc/ssl/certs"
    /// Source: Debian, Fedora and Alpine ca-certificates packages.
    private static let usualBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
    ]

    private func addDirectory(_ path: String) throws(TrustSetupError) {
        guard chttpdns_is_hashed_directory(path) == 1 else { throw .notHashed(path: path) }
        try addLookup(path)
    }

    private func addLookup(_ directories: String) throws(TrustSetupError) {
        for store in stores {
            guard let lookup = X509_STORE_add_lookup(store, X509_LOOKUP_hash_dir()),
                chttpdns_lookup_add_directory(lookup, directories) == 1
            else { throw .unexpected(LastError.text) }
        }
    }

    private func addFile(_ path: String) throws(TrustSetupError) {
        let octets: [UInt8]
        do throws(SmallFile.Fault) {
            octets = try SmallFile.whole(path, most: PolicyFile.maximumOctets)
        } catch { throw .unreadable(path: path, reason: "\(error)") }
        let certificates: [Certificate]
        do { certificates = try Certificate.all(octets) } catch {
            throw Filling.error(error, source: path)
        }
        try add(certificates, source: path)
    }

    private func addPEM(_ text: String) throws(TrustSetupError) {
        let certificates: [Certificate]
        do { certificates = try Certificate.all(pem: text) } catch {
            throw Filling.error(error, source: "the given PEM text")
        }
        try add(certificates, source: "the given PEM text")
    }

    private func add(
        _ certificates: [Certificate], source: String
    ) throws(TrustSetupError) {
        guard certificates.count <= Filling.maximumCertificates else {
            throw .unusable(
                what: "roots", source: source,
                reason: "there are \(certificates.count), and at most "
                    + "\(Filling.maximumCertificates) are taken; a hashed directory may hold more")
        }
        for certificate in certificates {
            for store in stores where X509_STORE_add_cert(store, certificate.raw) != 1 {
                throw .unexpected(LastError.text)
            }
        }
    }

    /// Because: a store sorts all it holds for each one that is added, so that 5,000 take seconds and
    /// 20,000 half a minute, before any time-out counts. The lists of browsers have some 150.
    private static let maximumCertificates = 5_000

    private static func error(_ error: CertificateError, source: String) -> TrustSetupError {
        switch error {
        case .none: .noCertificates(source: source)
        case .malformed(let number, _): .malformedCertificate(source: source, number: number)
        case .part(let what): .unexpected(what)
        }
    }
}
