internal import HTTPDNSNames
internal import HTTPDNSPlatform
internal import HTTPDNSTrust

/// Who takes part in every scenario of a bench: made once.
struct LabCast: Sendable {
    /// What everything follows from; nil: it is random.
    let seed: String?
    /// The one root that clients trust.
    let root: TestAuthority
    /// Signs what nothing else is said of.
    let intermediate: TestAuthority
    /// A root that clients do not know.
    let stranger: TestAuthority
    /// A root that clients do not know, but that ``root`` may vouch for.
    let newcomer: TestAuthority
    /// The key that a server had before it took another.
    let former: TestIdentity
    /// A sound certificate of nobody in particular, whose key no server has: for pins that must not
    /// match.
    let spare: TestIdentity
    /// The one log that clients know.
    let log: TestLog
    /// A log that they do not know.
    let unknownLog: TestLog
    private let rsa = Locked<TestIdentity?>(nil)

    init(seed: String?) throws(LabError) {
        self.seed = seed
        root = try TestAuthority("Lab Root", seed: seed)
        intermediate = try root.intermediate("Lab Intermediate")
        stranger = try TestAuthority("Stranger Root", seed: seed)
        newcomer = try TestAuthority("Newcomer Root", seed: seed)
        former = try intermediate.leaf(["former.lab.test"])
        spare = try intermediate.leaf(["spare.lab.test"])
        log = try TestLog("Lab Log", seed: seed)
        unknownLog = try TestLog("Unknown Log", seed: seed)
    }

    /// Whose key all certificates with an RSA key of the usual length have: each takes long to make, and
    /// no scenario is about its value.
    func rsaDonor() throws(LabError) -> TestIdentity {
        if let made = rsa.withLock({ $0 }) { return made }
        let donor = try intermediate.leaf(["rsa.lab.test"], key: .rsa2048)
        rsa.withLock { $0 = donor }
        return donor
    }
}

/// What one scenario's server does. It begins right in everything; a scenario changes what it is about.
struct LabPlan: Sendable {
    typealias Authority = @Sendable (LabCast) throws(LabError) -> TestAuthority
    typealias ChangeChain = @Sendable (LabCast, inout TestIdentity) throws(LabError) -> Void
    typealias Staple =
        @Sendable (TestAuthority, LabCast, TestIdentity) throws(LabError) -> [UInt8]?
    typealias Stamp =
        @Sendable (TestAuthority, LabCast, TestIdentity) throws(LabError) -> TestIdentity
    typealias Lists = @Sendable (TestAuthority, LabCast, TestIdentity) throws(LabError) -> String
    typealias Pins = @Sendable (LabCast, TestIdentity) -> [Pin]

    /// Whom the client means.
    var host: String
    /// What the server's certificate says.
    var recipe: TestRecipe
    /// Who signs it.
    var authority: Authority = { (cast) throws(LabError) in cast.intermediate }
    /// It signs itself instead.
    var isSelfSigned = false
    /// It is a second certificate for the key of a first one.
    var isRenewed = false
    /// Whose key it has, if not one of its own.
    var reusedKey: (@Sendable (LabCast) -> TestIdentity)?
    /// What is done to the certificates that the server sends.
    var change: ChangeChain = { (_, _) throws(LabError) in }
    /// What the server shows to who asks for these names, instead.
    var others: [String: TestRecipe] = [:]
    /// What it shows from the second connection on.
    var later: TestRecipe?
    /// The keys that the client is told to accept.
    var pins: Pins = { _, leaf in [leaf.pin] }
    var versions = LabTLSVersions.current
    var features = LabTLSFeatures()
    /// What is stapled for who asks: a response that says nothing bad.
    var staple: Staple = { (authority, _, leaf) throws(LabError) in
        try authority.ocspResponse(for: leaf)
    }
    /// The certificate with what logs promise about it.
    var stamp: Stamp = { (_, _, leaf) throws(LabError) in leaf }
    /// The lists of its authorities, in PEM, that a client is told; nil: none.
    var lists: Lists?
    var fault = LabConnectionFault.none
    /// The server ends each connection after its answer.
    var closes = false
    /// The answer leads to a second server, whose certificate says this.
    var redirect: TestRecipe?
    /// What a client does one after another; empty: one request for ``host``.
    var steps: [Step] = []
    /// The server answers 421 to requests for another name than the handshake's.
    var misdirects = false

    /// One request of a sequence.
    struct Step: Sendable {
        var host: String
        /// Whether the client is told the pins that the plan names, or one that cannot match.
        var pins: StepPins
        var isAccepted: Bool
    }

    enum StepPins: Sendable {
        case none
        case right
        case wrong
    }

    init(name: String) {
        host = name + ".lab.test"
        recipe = TestRecipe([.dns(host)], commonName: "lab")
    }

    /// The address in the URL, which is then whom the client means.
    mutating func addressAsHost() {
        host = LabAddress.ipv4.description
        recipe.names = [.address(LabAddress.ipv4)]
    }

    /// A certificate of the authority, as a recipe says, with all that its server sends.
    func identity(
        _ recipe: TestRecipe, by authority: TestAuthority, _ cast: LabCast
    ) throws(LabError) -> TestIdentity {
        if isSelfSigned {
            return try TestAuthority.selfSigned(recipe.names, key: recipe.key)
        }
        var donor = recipe.key == .rsa2048 ? try cast.rsaDonor() : nil
        if let reusedKey { donor = reusedKey(cast) }
        var recipe = recipe
        if isRenewed {
            donor = try authority.certificate(recipe)
            recipe.variant += 1
        }
        var leaf = try stamp(
            authority, cast, authority.certificate(recipe, reusingKeyOf: donor))
        try change(cast, &leaf)
        leaf.staple = try staple(authority, cast, leaf)
        return leaf
    }
}
