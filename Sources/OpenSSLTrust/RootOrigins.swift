internal import CHTTPDNSOpenSSL
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Tells roots that somebody added to this machine from those that came with it.
struct RootOrigins: Sendable {
    private let store: RootStore
    private let local: LocalRoots?

    /// - Parameters:
    ///   - store: the roots that chains are verified with.
    ///   - local: what was added to the system's roots, where those are among them.
    init(store: RootStore, local: LocalRoots?) {
        self.store = store
        self.local = local
    }

    func origin(of root: CertificateFacts?) -> RootOrigin {
        guard store.parts != nil || local?.isEmpty == false, let root,
            let certificate = try? Certificate(der: root.der)
        else { return .policy }
        if let local, local.holds(certificate) { return .user }
        // Roots that are the policy's own are that, whoever added them as well.
        guard let parts = store.parts, parts.added.holds(certificate),
            !parts.own.holds(certificate)
        else { return .policy }
        return .user
    }
}

/// The certificates that the machine's owner has put where the tools that make the system's bundle look
/// for them. Read once, as the system's roots are, and again when these are.
final class LocalRoots: @unchecked Sendable {
    // Safety: an X509_STORE locks itself; it is not configured after `init`.
    private let raw: OpaquePointer?
    let isEmpty: Bool

    private static let kept = Locked<LocalRoots?>(nil)

    /// Those of this machine.
    static var shared: LocalRoots {
        kept.withLock { kept in
            let local = kept ?? read()
            kept = local
            return local
        }
    }

    /// What is in the folders now.
    static func read() -> LocalRoots { LocalRoots(folders: usualFolders) }

    /// For stores that are loaded from now on.
    static func keep(_ local: LocalRoots) { kept.withLock { $0 = local } }

    init(folders: [String]) {
        raw = X509_STORE_new()
        var count: Int32 = 0
        if let raw {
            for folder in folders { count += chttpdns_store_add_folder(raw, folder, Self.depth) }
        }
        isEmpty = count == 0
    }

    deinit { X509_STORE_free(raw) }

    func holds(_ certificate: Certificate) -> Bool {
        guard let raw else { return false }
        return chttpdns_store_holds(raw, certificate.raw) == 1
    }

    /// Source: update-ca-certificates(8) of Debian, update-ca-trust(8) of Fedora and Arch, and
    /// update-ca-certificates(8) of SUSE.
    private static let usualFolders = [
        "/usr/local/share/ca-certificates", "/etc/pki/ca-trust/source/anchors",
        "/etc/ca-certificates/trust-source/anchors", "/etc/pki/trust/anchors",
    ]
    /// Because: companies put theirs in a folder of their own, not in a tree.
    private static let depth: Int32 = 2
}
