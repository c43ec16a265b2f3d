/// An HTTP-DNS protocol in data: how to write a request, how to read its response.
///
/// Made by a profile's file alone, so every template has passed the check. Resolvers/README.md has the
/// form with an example.
package struct ProviderTemplate: Sendable, Hashable {
    /// A text with variables in braces; a brace itself is written twice.
    package struct Text: Sendable, Hashable {
        package enum Piece: Sendable, Hashable {
            case literal(String)
            case variable(Variable)
        }

        package let pieces: [Piece]

        package var variables: [Variable] {
            pieces.compactMap { if case .variable(let variable) = $0 { variable } else { nil } }
        }
    }

    /// What a template can speak of; the raw value is the file's spelling.
    package enum Variable: String, Sendable, Hashable, CaseIterable {
        /// The one name asked for.
        case host
        /// All names, joined.
        case hosts
        case account
        /// The parts of an account that is written `one/two`.
        case accountFirst = "account_1"
        case accountSecond = "account_2"
        /// Enters signatures and ciphers only.
        case secret
        /// May be sent.
        case key
        /// Now and the lifetime of a signature: in seconds and in milliseconds since 1970.
        case expirySeconds = "expiry_s"
        case expiryMilliseconds = "expiry_ms"
        case nowSeconds = "now_s"
        case nowMilliseconds = "now_ms"
        /// Twelve random letters and digits, new in each request.
        case nonce
        /// `192.0.2.0/24`, and its address alone. Empty when the question has none.
        case clientSubnet
        case clientAddress
        /// The word for the record types asked for.
        case types
        case signature
        /// The encrypted part.
        case payload
    }

    /// A query parameter or a header field. Left out when a variable in it is empty.
    package struct Entry: Sendable, Hashable {
        package let name: String
        package let value: Text
    }

    /// The words for the types; the service answers for both families when there are none.
    package struct TypeWords: Sendable, Hashable {
        package let ipv4: String
        package let ipv6: String
        /// Asks for both in one request; nil when the service cannot.
        package let both: String?
    }

    package struct Signature: Sendable, Hashable {
        package enum Algorithm: String, Sendable, Hashable, CaseIterable {
            case md5
            case sha256
            /// The secret is the key.
            case hmacSHA256 = "hmac-sha256"
        }

        package enum Order: String, Sendable, Hashable, CaseIterable {
            case given
            /// As octets.
            case ascending
        }

        package let pieces: [Text]
        package let joiner: String
        package let order: Order
        /// Leaves out a piece with an empty variable in it, instead of taking it as it is.
        package let dropsEmpty: Bool
        package let algorithm: Algorithm
        package let keyEncoding: KeyEncoding
        package let encoding: TextEncoding
    }

    package enum KeyEncoding: String, Sendable, Hashable, CaseIterable {
        case utf8
        case hex
        /// UTF-8, filled up to the cipher's length as PKCS#7 does.
        case pkcs7
    }

    package enum TextEncoding: String, Sendable, Hashable, CaseIterable {
        case hex
        case base64
    }

    /// A cipher and whose key it takes.
    package struct Encryption: Sendable, Hashable {
        /// `aes-128-cbc`, `aes-128-gcm`, `aes-256-ecb` or `des-ecb`.
        package let cipher: String
        /// ``Variable/secret`` or ``Variable/key``.
        package let key: Variable
        package let keyEncoding: KeyEncoding
        package let encoding: TextEncoding
    }

    package struct Payload: Sendable, Hashable {
        package let text: Text
        package let encryption: Encryption
    }

    package struct Response: Sendable, Hashable {
        package enum Form: String, Sendable, Hashable, CaseIterable {
            /// Objects, mapped by the paths below.
            case json
            /// A bare JSON array of addresses.
            case addresses
            /// Google's JSON shape.
            case dnsJSON = "dns-json"
            /// A line of text, parted by the separators below.
            case text
        }

        package let form: Form
        package let code: Code?
        /// Where the entries are; the whole body when empty.
        package let entries: Path
        /// The entries are members, each under its name.
        package let isKeyedByName: Bool
        package let name: Path?
        /// Where addresses are, of either family.
        package let addresses: [Path]
        package let seconds: Path?
        /// In the entry or in the body.
        package let clientAddress: Path?
        /// `{}` says "no record".
        package let emptyIsNoData: Bool
        package let separators: Separators?
        package let encryption: Encryption?
    }

    /// Members from the outside in: `data.cip`.
    package struct Path: Sendable, Hashable {
        package let members: [String]

        package var text: String { members.joined(separator: ".") }
    }

    /// Where a service refuses by a code of its own.
    package struct Code: Sendable, Hashable {
        package let path: Path
        /// The values that mean success; any other is a refusal. Without them, any value is.
        package let success: [String]
        /// Words for codes that are numbers.
        package let meanings: [String: String]
        /// Those after which another server is asked.
        package let switching: [String]
    }

    package struct Separators: Sendable, Hashable {
        package let addresses: String
        package let seconds: String?
        package let client: String?
    }

    package let path: Text
    package let maximumNames: Int
    package let namesJoiner: String
    package let types: TypeWords?
    package let lifetimeSeconds: Int64
    package let accept: String
    package let parameters: [Entry]
    package let headers: [Entry]
    package let signature: Signature?
    package let payload: Payload?
    package let response: Response

    /// Everything that a request is written from.
    package var texts: [Text] {
        [path] + parameters.map(\.value) + headers.map(\.value) + (signature?.pieces ?? [])
            + (payload.map { [$0.text] } ?? [])
    }

    /// A credential that a text or a cipher needs.
    package func uses(_ variable: Variable) -> Bool {
        texts.contains { $0.variables.contains(variable) }
            || payload?.encryption.key == variable || response.encryption?.key == variable
            || (variable == .secret && signature?.algorithm == .hmacSHA256)
    }

    /// True when the key travels as it is.
    package var sendsKey: Bool {
        ([path] + parameters.map(\.value) + headers.map(\.value)).contains {
            $0.variables.contains(.key)
        }
    }
}
