internal import CHTTPDNSCoding

/// A content coding: how a body was made smaller on its way. Source: RFC 9110 §8.4.1, RFC 7932,
/// RFC 8878; the registry of HTTP content codings.
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    case gzip, deflate, br, zstd

    /// A coding by its name in a field, in any case; `x-gzip` is gzip. Source: RFC 9110 §8.4.1.3.
    package init?(name: some StringProtocol) {
        let name = name.lowercased()
        guard let coding = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : name) else {
            return nil
        }
        self = coding
    }

    /// Those whose library is on this machine, in the order in which we offer them.
    package static let available = allCases.filter {
        switch $0 {
        case .gzip, .deflate: httpdns_coding_available(HTTPDNS_CODING_ZLIB)
        case .br: httpdns_coding_available(HTTPDNS_CODING_BROTLI)
        case .zstd: httpdns_coding_available(HTTPDNS_CODING_ZSTD)
        }
    }

    /// What we write into `Accept-Encoding`.
    package static let acceptEncoding =
        available.isEmpty ? "identity" : available.map(\.rawValue).joined(separator: ", ")

    /// The codings that the values of `Content-Encoding` name, in the order in which they were applied.
    /// `identity` is none; so is `none`, which servers write that mean it.
    package static func list(of values: [String]) throws(CodingFault) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for value in values {
            for item in value.utf8.split(separator: UInt8(ascii: ",")) {
                let blank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
                let name = String(
                    decoding: item.drop(while: blank).reversed().drop(while: blank).reversed(),
                    as: UTF8.self)
                if name.isEmpty || ["identity", "none"].contains(name.lowercased()) { continue }
                guard let coding = ContentCoding(name: name) else { throw .unknown(name) }
                codings.append(coding)
            }
        }
        guard codings.count <= mostCodings else { throw .tooMany(codings.count) }
        return codings
    }

    /// Because: one on top of another is hardly ever met; each costs memory that the peer chooses.
    /// libcurl takes five. Source: curl 7.88, content_encoding.c, MAX_ENCODE_STACK.
    static let mostCodings = 5
}

/// Why a coded body cannot be read.
package enum CodingFault: Error, Sendable, Hashable, CustomStringConvertible {
    case unknown(String)
    case tooMany(Int)
    /// The library of this coding is not on this machine.
    case unavailable(ContentCoding)
    /// The octets are not of this coding.
    case broken(ContentCoding)
    /// Octets follow behind the end of the coding.
    case trailing(ContentCoding)
    /// The body ends before its coding does.
    case truncated(ContentCoding)

    package var description: String {
        switch self {
        case .unknown(let name):
            let shown = name.prefix(CodingFault.longestShown)
            return "its content coding \"\(shown)\" is not known; "
                + "asked for was \(ContentCoding.acceptEncoding)"
        case .tooMany(let count):
            return "it has \(count) content codings, and \(ContentCoding.mostCodings) are the most"
        case .unavailable(let coding):
            return "its content coding \(coding.rawValue) needs a library that is not here"
        case .broken(let coding): return "it is not what its content coding \(coding.rawValue) says"
        case .trailing(let coding):
            return "octets follow behind the end of its content coding \(coding.rawValue)"
        case .truncated(let coding):
            return "it ends before its content coding \(coding.rawValue) does"
        }
    }

    /// Because: longer than every name that is registered.
    private static let longestShown = 32
}
