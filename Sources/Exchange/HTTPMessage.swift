/// A request method: a token, case-sensitive. Source: RFC 9110 §9.1.
public struct HTTPMethod: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// Nil unless `text` is a token. Source: RFC 9110 §5.6.2.
    public init?(_ text: String) {
        guard HTTPFields.isToken(text) else { return nil }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    public static let get = HTTPMethod(known: "GET")
    public static let head = HTTPMethod(known: "HEAD")
    public static let post = HTTPMethod(known: "POST")
    public static let put = HTTPMethod(known: "PUT")
    public static let delete = HTTPMethod(known: "DELETE")

    public var description: String { text }
}

/// Header fields in order, names compared without case. Source: RFC 9110 §5.
public struct HTTPFields: Sendable, Hashable {
    /// One field as written; the name keeps its case.
    public struct Field: Sendable, Hashable {
        public let name: String
        /// Where its octets are not UTF-8, one character for each.
        public fileprivate(set) var value: String
        /// The octets that came where they are not ``value`` in UTF-8; see ``FieldText``.
        package fileprivate(set) var octets: [UInt8]?

        init(name: String, value: FieldText) {
            self.name = name
            self.value = value.text
            octets = value.octets
        }

        fileprivate mutating func extend(by more: FieldText) {
            guard more.octets != nil || octets != nil else {
                value += more.text
                return
            }
            if octets == nil {
                octets = Array(value.utf8)
                value = FieldText.latin1(value.utf8)
            }
            octets?.append(contentsOf: more.wire)
            value += FieldText.latin1(more.wire)
        }
    }

    public private(set) var fields: [Field] = []

    public init() {}

    /// The fields given, in order: `try HTTPFields(["Accept": "text/html"])`.
    ///
    /// - Throws: ``FieldError``, as ``append(_:_:)``.
    public init(_ fields: KeyValuePairs<String, String>) throws(FieldError) {
        for (name, value) in fields { try append(name, value) }
    }

    /// None yet, with room for so many.
    package init(room: Int) { fields.reserveCapacity(room) }

    /// Adds a field as it was received; ``check()`` says whether it may stand.
    package mutating func add(unchecked name: String, _ value: FieldText) {
        fields.append(Field(name: name, value: value))
    }

    /// Adds to the value of the last field; false without one. ``check()`` says whether it may stand.
    package mutating func extendLast(by text: FieldText) -> Bool {
        guard !fields.isEmpty else { return false }
        // In place: copying the value for each line would cost its square.
        fields[fields.count - 1].extend(by: text)
        return true
    }

    /// - Throws: ``FieldError``, as ``append(_:_:)``, for what was added without it.
    package func check() throws(FieldError) {
        for field in fields { try HTTPFields.check(field.name, field.value) }
    }

    /// Adds a field behind those of the same name.
    ///
    /// - Throws: ``FieldError`` when the name is not a token or the value holds CR, LF or NUL (or
    ///   another control character but tab): such text would start a new field on the wire.
    ///   Source: RFC 9110 §5.5.
    public mutating func append(_ name: String, _ value: String) throws(FieldError) {
        try append(name, FieldText(value))
    }

    /// The same with octets that may be no UTF-8.
    package mutating func append(_ name: String, _ value: FieldText) throws(FieldError) {
        try HTTPFields.check(name, value.text)
        fields.append(Field(name: name, value: value))
    }

    /// Replaces all fields of that name by one.
    ///
    /// - Throws: ``FieldError``, as ``append(_:_:)``.
    public mutating func set(_ name: String, _ value: String) throws(FieldError) {
        try set(name, FieldText(value))
    }

    /// The same with octets that may be no UTF-8.
    package mutating func set(_ name: String, _ value: FieldText) throws(FieldError) {
        try HTTPFields.check(name, value.text)
        remove(name)
        fields.append(Field(name: name, value: value))
    }

    /// Removes all fields of that name.
    public mutating func remove(_ name: String) {
        fields.removeAll { HTTPFields.same($0.name, name) }
    }

    /// The first value of that name.
    public func first(_ name: String) -> String? {
        fields.first { HTTPFields.same($0.name, name) }?.value
    }

    /// All values of that name, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { HTTPFields.same($0.name, name) }.map(\.value)
    }

    /// True when there is a field of that name.
    public func contains(_ name: String) -> Bool {
        fields.contains { HTTPFields.same($0.name, name) }
    }

    /// True for a non-empty run of `tchar`. Source: RFC 9110 §5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && isAll(text, isTokenOctet)
    }

    /// As one run of memory, as nearly all texts are, it is gone through several times faster.
    private static func isAll(_ text: String, _ isGood: (UInt8) -> Bool) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isGood) }
            ?? text.utf8.allSatisfy(isGood)
    }

    private static func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Up to the first character at fault: behind it the value may stand (`Name: value`).
    private static func shown(badName name: String) -> String {
        let scalars = name.unicodeScalars
        let good = scalars.prefix {
            $0.isASCII && isTokenOctet(UInt8(truncatingIfNeeded: $0.value))
        }
        return String(scalars.prefix(min(good.count, shownNameCharacters) + 1))
    }

    /// Because: longer than any registered name.
    private static let shownNameCharacters = 64

    private static func check(_ name: String, _ value: String) throws(FieldError) {
        guard isToken(name) else { throw .badName(shown(badName: name)) }
        guard isAll(value, { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
            throw .badValue(name: name)
        }
    }

    /// Names of fields are compared without case.
    package static func same(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // Mostly written as we write them.
        if left == right { return true }
        var others = right.utf8.makeIterator()
        for octet in left.utf8 {
            guard let other = others.next(), lower(octet) == lower(other) else { return false }
        }
        return true
    }

    private static func lower(_ octet: UInt8) -> UInt8 {
        (0x41...0x5A).contains(octet) ? octet | 0x20 : octet
    }
}

/// Why a header field cannot be sent. The value is not repeated: it may be a secret.
public enum FieldError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name is not a token; the text is its beginning, up to and with the first character at fault.
    case badName(String)
    /// The value of this field holds a control character.
    case badValue(name: String)

    public var description: String {
        switch self {
        case .badName(let name):
            "\"\(name.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\" does not begin a "
                + "field name: letters, digits and !#$%&'*+-.^_`|~ only"
        case .badValue(let name):
            "the value of \(name) holds a control character (a line break would start a new field)"
        }
    }
}

/// The head of a request, as its author means it: the logical URL, no address anywhere.
public struct RequestHead: Sendable, Hashable {
    public var method: HTTPMethod
    public var url: HTTPURL
    public var fields: HTTPFields

    public init(method: HTTPMethod = .get, url: HTTPURL, fields: HTTPFields = HTTPFields()) {
        self.method = method
        self.url = url
        self.fields = fields
    }
}

/// The protocol a response came by.
public enum HTTPVersion: String, Sendable, Hashable {
    case http10 = "1.0"
    case http11 = "1.1"
    case http2 = "2"
}

/// The head of a response, under the logical URL.
public struct ResponseHead: Sendable, Hashable {
    public var url: HTTPURL
    /// 100...999
    public var status: Int
    public var version: HTTPVersion
    public var fields: HTTPFields
    /// The words that a server of HTTP/1 wrote beside the status; nil where there are none. They mean
    /// nothing. Source: RFC 9112 §4.
    package var reason: String?

    public init(url: HTTPURL, status: Int, version: HTTPVersion, fields: HTTPFields) {
        self.url = url
        self.status = status
        self.version = version
        self.fields = fields
    }
}
