internal import HTTPDNSLookup
internal import HTTPDNSNames

/// The text of an answer in clear, read for one name and family.
///
///     answer  = [ name [ "." ] ":" ] ( list / list "-" list ) [ "|" client-address ]
///     list    = addresses [ "," ttl ]          a "-" parts IPv4 from IPv6
///     addresses = address *( ";" address ) [ ";" ] / "0" / name
///
/// An empty body, `0` and the name itself mean: no address. Several lines answer several names; ours
/// is looked for.
///
/// Source: cloud.tencent.com/document/product/379 and the vendor's SDKs.
struct DNSPodAnswer {
    private(set) var addresses: [IPAddress] = []
    private(set) var lifetimeSeconds = AnswerLifetime.defaultSeconds
    private(set) var clientAddress: IPAddress?
    private let name: HostName
    private let family: IPAddress.Family
    private let scope: Scope
    private let response: HTTPDNSResponse

    /// What the request asked for beside this name and family.
    struct Scope {
        /// Both families, so that a list alone may be of either.
        let wantsBoth: Bool
        /// Several names, so that a line must say whose it is.
        let isBatch: Bool
    }

    init(
        _ text: String, to question: (name: HostName, family: IPAddress.Family), in scope: Scope,
        _ response: HTTPDNSResponse
    ) throws(QueryFailure) {
        name = question.name
        family = question.family
        self.scope = scope
        self.response = response
        let lines = text.split(whereSeparator: \.isNewline).map(Self.trimmed)
            .filter { !$0.isEmpty }
        guard !lines.isEmpty else { return }
        var named = 0
        var fault: QueryFailure?
        for line in lines {
            let answer: Substring?
            do throws(QueryFailure) { answer = try ours(line) } catch {
                // A line that names nobody condemns itself alone.
                guard scope.isBatch else { throw error }
                fault = fault ?? error
                continue
            }
            guard let answer else {
                if Self.nameEnd(in: line) != nil { named += 1 }
                continue
            }
            try read(answer)
            return
        }
        if scope.isBatch, named > 0 { throw .notCovered }
        throw fault ?? response.malformed("no line of the answer is about \(name)")
    }

    /// The line without its name; nil when it is about another name.
    private func ours(_ line: Substring) throws(QueryFailure) -> Substring? {
        guard let colon = Self.nameEnd(in: line) else {
            guard scope.isBatch else { return line }
            // A miss may be the name alone, with or without the client's address.
            let before = line.prefix { $0 != "|" }
            return isOurName(before) ? line : nil
        }
        guard let named = try? HostName(String(line[..<colon])) else {
            throw response.malformed("the line \(ServerText.shown(String(line))) names no host")
        }
        return named == name ? line[line.index(after: colon)...] : nil
    }

    /// The colon behind a name, told from those of an IPv6 address: it follows a dot, or a name that
    /// has a letter beyond `f` and so is no group.
    private static func nameEnd(in line: Substring) -> Substring.Index? {
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
        let before = line[..<colon]
        if before.contains(where: { ",;|".contains($0) }) { return nil }
        let isGroup = before.utf8.count <= 4 && before.allSatisfy(\.isHexDigit)
        return isGroup ? nil : colon
    }

    private mutating func read(_ answer: Substring) throws(QueryFailure) {
        let parts = answer.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw malformed(answer) }
        if parts.count == 2 {
            clientAddress = try? IPAddress(String(Self.trimmed(parts[1])))
        }
        let lists = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false)
        switch lists.count {
        case 1:
            let list = try read(list: lists[0], scope.wantsBoth ? nil : family)
            // One list of a batch that asked for both speaks of its own family alone.
            if scope.isBatch, list.addresses.isEmpty, list.hasOthers { throw .notCovered }
            keep(list)
        // A host name may hold hyphens: the form "the name itself" comes before "two lists".
        case _ where isOurName(parts.first ?? ""): return
        case 2:
            let both = (try read(list: lists[0], .ipv4), try read(list: lists[1], .ipv6))
            keep(family == .ipv4 ? both.0 : both.1)
        default: throw malformed(answer)
        }
    }

    private typealias AddressList = (
        addresses: [IPAddress], lifetimeSeconds: UInt32, hasOthers: Bool
    )

    private mutating func keep(_ list: AddressList) {
        addresses = list.addresses
        lifetimeSeconds = list.lifetimeSeconds
    }

    /// - Parameter family: of all addresses; nil when both may stand there, and ours are kept.
    private func read(
        list: Substring, _ family: IPAddress.Family?
    ) throws(QueryFailure) -> AddressList {
        let parts = list.split(separator: ",", omittingEmptySubsequences: false)
            .map(Self.trimmed)
        guard (1...2).contains(parts.count) else { throw malformed(list) }
        var lifetimeSeconds = AnswerLifetime.defaultSeconds
        if parts.count == 2, !parts[1].isEmpty {
            guard let seconds = AnswerLifetime.seconds(digits: parts[1]) else {
                throw malformed(list)
            }
            lifetimeSeconds = seconds
        }
        let words = parts[0].split(separator: ";").map(Self.trimmed)
        if words == ["0"] || (words.count == 1 && isOurName(words[0])) {
            return ([], lifetimeSeconds, false)
        }
        var addresses: [IPAddress] = []
        for word in words {
            guard let address = try? IPAddress(String(word)), address.zone == nil,
                family == nil || address.family == family
            else { throw malformed(list) }
            if family != nil || address.family == self.family { addresses.append(address) }
        }
        return (addresses, lifetimeSeconds, addresses.count < words.count)
    }

    private func isOurName(_ text: Substring) -> Bool {
        (try? HostName(String(text))) == name
    }

    private func malformed(_ text: Substring) -> QueryFailure {
        response.malformed(
            "\(ServerText.shown(String(text))) is not a list of addresses of its family")
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
