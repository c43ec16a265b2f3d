internal import HTTPDNSNames

/// The providers that are known without configuration: the files of Resolvers/Profiles, and those of
/// them that are reached over TLS too, under an id of their own (``Profile/overTLS``).
package enum Profiles {
    /// All of them, by ascending id.
    package static let all: [Profile] = EmbeddedProfiles.files.compactMap { file in
        // A test holds every embedded file to the check, so none is passed over.
        try? Profile.parse(file: file.name + ".json", text: file.text)
    }.flatMap { profile in [profile] + (profile.overTLS.map { [$0] } ?? []) }
        .sorted { $0.id < $1.id }

    /// The embedded files, for the check.
    package static var files: [(name: String, text: String)] { EmbeddedProfiles.files }

    /// The provider of that id, letters of either case; reads that one file only.
    package static func named(_ id: String) -> Profile? {
        let id = id.lowercased()
        if let profile = inFile(id) { return profile }
        guard id.hasSuffix(Profile.dotSuffix) else { return nil }
        return inFile(String(id.dropLast(Profile.dotSuffix.count)))?.overTLS
    }

    private static func inFile(_ id: String) -> Profile? {
        guard let file = EmbeddedProfiles.files.first(where: { $0.name == id }) else { return nil }
        return try? Profile.parse(file: file.name + ".json", text: file.text)
    }

    /// The id that comes nearest to a mistyped one; nil when none is near.
    package static func nearest(to text: String) -> String? {
        Nearest.word(to: text, in: all.map(\.id))
    }
}
