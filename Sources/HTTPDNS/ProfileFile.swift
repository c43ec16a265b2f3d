internal import HTTPDNSProfiles

extension ResolverDescription {
    /// Reads a profile of one's own: a resolver tier, an in-house service. The form is that of the
    /// built-in providers (`Resolvers/README.md`): one JSON object that says what it is, whom its
    /// certificate must prove, and where its servers are.
    ///
    /// Nothing is read from disk here; set ``bootstrap`` to ask at other addresses, or in another order.
    ///
    /// - Parameters:
    ///   - text: what the file holds.
    ///   - file: its name, `fleet.json` for a profile whose id is `fleet`; folders before it do not
    ///     count.
    /// - Throws: ``DescriptionError``: which key is wrong, why, and what to do.
    public init(profile text: String, file: String) throws(DescriptionError) {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let profile: Profile
        do throws(ProfileError) {
            profile = try Profile.parse(file: name, text: text)
        } catch {
            throw DescriptionError(text: file, reason: "\(error)")
        }
        // Else what a report says of `google` would be of somebody else.
        guard Profiles.named(profile.id) == nil else {
            throw DescriptionError(
                text: file,
                reason:
                    "\(profile.id) is a provider that is built in; take another id, and name the "
                    + "file after it")
        }
        self.init(kind: .provider(profile))
    }

    /// Whether a text that names a resolver is the path of a profile: it has a slash, so that it cannot
    /// be a host, and begins as only paths do, or ends in `.json`.
    package static func isProfilePath(_ text: String) -> Bool {
        guard text.contains("/"), !text.contains("://") else { return false }
        return ["/", "./", "../"].contains { text.hasPrefix($0) } || text.hasSuffix(".json")
    }
}
