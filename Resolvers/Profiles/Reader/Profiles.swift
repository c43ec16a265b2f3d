internal import HTTPDNSNames

/// The providers that are known without configuration: the files of Resolvers/Profiles.
package enum Profiles {
    /// All of them, by ascending id.
    package static let all: [Profile] = EmbeddedProfiles.files.compactMap { file in
        // A test holds every embedded file to the check, so none is passed over.
        try? Profile.parse(file: file.name + ".json", text: file.text)
    }.sorted { $0.id < $1.id }

    /// The embedded files, for the check.
    package static var files: [(name: String, text: String)] { EmbeddedProfiles.files }

    /// The provider of that id, letters of either case; reads that one file only.
    package static func named(_ id: String) -> Profile? {
        let id = id.lowercased()
        guard let file = EmbeddedProfiles.files.first(where: { $0.name == id }) else { return nil }
        return try? Profile.parse(file: file.name + ".json", text: file.text)
    }

    /// The id that comes nearest to a mistyped one; nil when none is near.
    package static func nearest(to text: String) -> String? {
        Nearest.word(to: text, in: EmbeddedProfiles.files.map(\.name).sorted())
    }
}
