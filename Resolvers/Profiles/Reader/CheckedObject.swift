internal import HTTPDNSJSON

/// One object of a profile's file, read member by member; each fault says where and what to do.
struct CheckedObject {
    let file: String
    /// `template.signature`; empty for the file itself.
    let path: String
    let object: JSONObject

    /// - Throws: for a value that is no object, and for members that are not known.
    init(
        _ value: JSONValue?, file: String, path: String, keys: [String]
    ) throws(ProfileError) {
        self.file = file
        self.path = path
        guard let object = value?.object else {
            throw ProfileError(
                file: file, keyPath: path, what: value.map { "it is \($0.kind)" } ?? "missing",
                advice: "write an object with the keys \(keys.joined(separator: ", "))")
        }
        self.object = object
        if let unknown = object.names.first(where: { !keys.contains($0) }) {
            throw fault(unknown, "unknown key", "the keys are \(keys.joined(separator: ", "))")
        }
    }

    /// A member's object.
    func object(_ key: String, keys: [String]) throws(ProfileError) -> CheckedObject? {
        guard let value = object[key] else { return nil }
        return try CheckedObject(value, file: file, path: place(of: key), keys: keys)
    }

    func text(_ key: String, advice: String) throws(ProfileError) -> String {
        guard let text = try optionalText(key), !text.isEmpty else {
            throw fault(key, "missing or empty", advice)
        }
        return text
    }

    func optionalText(_ key: String) throws(ProfileError) -> String? {
        guard let value = object[key] else { return nil }
        guard let text = value.string else {
            throw fault(key, "it is \(value.kind)", "write a string")
        }
        return text
    }

    func flag(_ key: String) throws(ProfileError) -> Bool {
        guard let value = object[key] else { return false }
        guard let flag = value.bool else {
            throw fault(key, "it is \(value.kind)", "write true or false")
        }
        return flag
    }

    /// A whole number; nil when it is missing.
    func number(_ key: String, in range: ClosedRange<Int64>) throws(ProfileError) -> Int64? {
        guard let value = object[key] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw fault(
                key, "\(value) is out of range",
                "write a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func strings(_ key: String) throws(ProfileError) -> [String] {
        guard let value = object[key] else { return [] }
        guard let array = value.array else {
            throw fault(key, "it is \(value.kind)", "write an array of strings")
        }
        var strings: [String] = []
        for (index, element) in array.enumerated() {
            guard let text = element.string else {
                throw fault("\(key)[\(index)]", "it is \(element.kind)", "write a string")
            }
            strings.append(text)
        }
        return strings
    }

    /// One of the spellings of a set; nil when it is missing.
    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, of type: Word.Type
    ) throws(ProfileError) -> Word? where Word.RawValue == String {
        guard let text = try optionalText(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw fault(key, "\"\(text)\" is unknown", "use one of \(known)")
        }
        return word
    }

    func place(of key: String) -> String { path.isEmpty ? key : path + "." + key }

    func fault(_ key: String, _ what: String, _ advice: String) -> ProfileError {
        ProfileError(file: file, keyPath: place(of: key), what: what, advice: advice)
    }
}
