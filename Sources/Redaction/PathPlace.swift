/// Follows the path of a URL, wherever it stands, to where a token stands in it that nothing but the
/// words before it tells.
///
///     /reset-password/TOKEN   /invite/TOKEN   …/services/T…/B…/TOKEN   …/webhooks/123…/TOKEN
///
/// Source: the services' documentation for webhooks.
struct PathPlace: Sendable {
    private enum Stage: Sendable, Hashable {
        case outside
        /// Behind `services`, and behind what a workspace is called.
        case services, workspace
        case webhooks
    }

    private var stage = Stage.outside
    /// The word before a backslash: `\/`.
    private var pending: [UInt8] = []
    /// What the next word may be.
    private var awaited: TokenForm?

    /// Whether an octet other than a slash can mean something.
    var isBusy: Bool { awaited != nil || stage != .outside || !pending.isEmpty }

    /// What the word is to be that begins now.
    mutating func beginWord() -> TokenForm? {
        guard let form = awaited else { return nil }
        awaited = nil
        return form
    }

    /// - Parameters:
    ///   - word: what came before the octet; nil for one that was too long.
    ///   - octet: none of a word.
    mutating func take(_ word: [UInt8]?, _ octet: UInt8) {
        guard octet != 0x5C else {
            if let word, !word.isEmpty { pending = word }
            return
        }
        let name = word?.isEmpty == true ? pending : word ?? []
        pending = []
        guard octet == 0x2F else {
            stage = .outside
            awaited = nil
            return
        }
        // One slash more, or the same one again.
        guard word?.isEmpty == false || !name.isEmpty else { return }
        advance(name)
    }

    private mutating func advance(_ name: [UInt8]) {
        awaited = nil
        switch stage {
        case .services where PathPlace.isNamed(name, by: 0x54): stage = .workspace
        case .workspace where PathPlace.isNamed(name, by: 0x42):
            stage = .outside
            awaited = .webhook
        case .webhooks where name.count >= PathPlace.shortestName && name.allSatisfy(isDigit):
            stage = .outside
            awaited = .webhook
        default:
            let word = PathPlace.comparable(name)
            stage =
                word == PathPlace.services
                ? .services : word == PathPlace.webhooks ? .webhooks : .outside
            if PathPlace.leading.contains(word) { awaited = .segment }
        }
    }

    private static func isNamed(_ name: [UInt8], by first: UInt8) -> Bool {
        name.count >= shortestName && name[0] == first
            && name.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    private func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }

    /// Whether a word before a slash can mean something.
    static func mayLead<Octets: Collection<UInt8>>(_ word: Octets) -> Bool {
        var first: UInt8 = 0
        var count = 0
        for octet in word {
            if count == 0 { first = octet | 0x20 }
            count += 1
            if count > longestWord { return false }
        }
        guard count >= shortestWord, firsts.contains(first) else { return false }
        let word = comparable(Array(word))
        return word == services || word == webhooks || leading.contains(word)
    }

    /// Lower case, and without what joins words.
    private static func comparable(_ word: [UInt8]) -> [UInt8] {
        guard word.count <= longestWord else { return [] }
        return word.filter { $0 != 0x2D && $0 != 0x5F }.map { octet in
            (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
        }
    }

    private static let services = Array("services".utf8)
    private static let webhooks = Array("webhooks".utf8)
    private static let leading = Set(
        [
            "reset", "resetpassword", "passwordreset", "setpassword", "changepassword",
            "forgotpassword", "newpassword", "verify", "verifyemail", "verifyaccount",
            "verification", "emailverification", "confirm", "confirmation", "confirmemail",
            "confirmaccount", "activate", "activation", "activateaccount", "invite", "invites",
            "invitation", "invitations", "acceptinvite", "acceptinvitation", "token", "tokens",
            "magic", "magiclink", "magiclogin", "loginlink", "autologin", "onetimelogin",
            "passwordless", "recover", "recovery", "recoverpassword", "unlock", "unlockaccount",
            "unsubscribe",
        ].map { Array($0.utf8) })
    private static let firsts = Set((leading + [services, webhooks]).compactMap(\.first))
    /// Because: `reset` has as many, and `verification` with what joins it fewer than the other.
    private static let shortestWord = 5
    private static let longestWord = 24
    /// Because: names of workspaces have nine characters or more, and numbers of webhooks seventeen;
    /// less is asked for than there is.
    private static let shortestName = 6
}
