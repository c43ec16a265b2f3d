internal import Foundation

/// What Foundation's own loader says of the application where neither its request nor its session does:
/// there are servers that refuse a request without a `User-Agent`, or choose a language by the other.
///
/// Source: HTTPURLProtocol.swift of swift-corelibs-foundation, `curlHeadersToSet`.
enum StockFields {
    /// Made once; a value that may not stand in a field is left out.
    static let all: [(name: String, value: String)] = {
        let language = Locale.current.language.languageCode?.identifier
        return [("User-Agent", userAgent), ("Accept-Language", language)].compactMap {
            guard let value = $1, !value.isEmpty, value.utf8.allSatisfy({ 0x20...0x7E ~= $0 })
            else { return nil }
            return ($0, value)
        }
    }()

    private static var userAgent: String? {
        let name = ProcessInfo.processInfo.processName
        return "\(name) (unknown version)" + (libraryVersion.map { " curl/\($0)" } ?? "")
    }

    /// Of the libcurl that Foundation is linked with; nil where it is not found.
    ///
    /// `curl_version` would begin to use the LDAP library, which looks up this machine's name.
    ///
    /// Source: curl_version_info(3): what it returns begins with the age of its form, an `int`, and the
    /// version's text, in all forms there are.
    private static var libraryVersion: String? {
        typealias VersionInfo = @convention(c) (CInt) -> UnsafeRawPointer?
        guard let symbol = dlsym(nil, "curl_version_info"),
            let info = unsafeBitCast(symbol, to: VersionInfo.self)(0)
        else { return nil }
        let place = MemoryLayout<UnsafeRawPointer>.stride
        return info.load(fromByteOffset: place, as: UnsafePointer<CChar>?.self)
            .map { String(cString: $0) }
    }
}
