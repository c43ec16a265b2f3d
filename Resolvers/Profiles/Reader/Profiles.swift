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
        let typed = Array(text.lowercased().utf8)
        // Because: the distance costs a table of both lengths, and no id is this long.
        guard (1...64).contains(typed.count) else { return nil }
        let candidates = EmbeddedProfiles.files.map { file in
            (id: file.name, distance: distance(typed, Array(file.name.utf8)))
        }
        guard let best = candidates.min(by: { ($0.distance, $0.id) < ($1.distance, $1.id) })
        else { return nil }
        // Because: a third of the letters wrong is a slip; more is another word.
        return best.distance <= max(1, typed.count / 3) ? best.id : nil
    }

    /// Letters to insert, remove, replace, or swap with their neighbour, to come from one to other.
    private static func distance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for (row, letter) in from.enumerated() {
            var current = [row + 1]
            for (column, other) in to.enumerated() {
                var best = min(
                    last[column] + (letter == other ? 0 : 1), last[column + 1] + 1,
                    current[column] + 1)
                if row > 0, column > 0, letter == to[column - 1], from[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[to.count]
    }
}
