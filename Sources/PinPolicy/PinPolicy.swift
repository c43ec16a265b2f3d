internal import HTTPDNSJSON
internal import HTTPDNSPlatform
public import HTTPDNSTrust

/// Pins as a file holds them: our own JSON, or the configuration of TrustKit or of OkHttp.
///
///     var policy = TrustPolicy()
///     policy.pins = try PinPolicy(file: "/etc/app/pins.json").pins
///
/// The form is described in docs/pin-policy.md. A file with a fault is refused as a whole, with the
/// line, the column and what to do: half a policy would leave hosts unpinned without a word.
public struct PinPolicy: Sendable, Hashable {
    /// In whose words a policy is written.
    public enum Style: String, Sendable, Hashable {
        case native
        case trustKit = "TrustKit"
        case okHttp = "OkHttp"
    }

    public let style: Style
    /// What the file calls itself; nil where it does not.
    public let name: String?
    public let pins: PinSet
    /// What was read and means nothing here, a line each.
    public let notes: [String]

    /// Reads a file.
    ///
    /// - Throws: ``PinPolicyError``.
    public init(file path: String) throws(PinPolicyError) {
        let octets: [UInt8]
        do throws(SmallFile.Fault) {
            octets = try SmallFile.whole(path, most: PinPolicy.maximumOctets)
        } catch { throw PinPolicyError(file: path, "cannot be read: \(error)") }
        try self.init(octets, named: path)
    }

    /// Reads the content of a file; `name` stands in messages.
    ///
    /// - Throws: ``PinPolicyError``.
    public init(_ octets: [UInt8], named name: String) throws(PinPolicyError) {
        let text = PolicyText(octets: octets, name: name)
        guard octets.count <= PinPolicy.maximumOctets else {
            throw PinPolicyError(
                file: name, "longer than \(PinPolicy.maximumOctets) octets: not a pin policy")
        }
        guard String(validating: octets, as: UTF8.self) != nil else {
            throw PinPolicyError(file: name, "not UTF-8: not a pin policy")
        }
        guard let first = octets.drop(while: PolicyText.isSpace).first else {
            throw PinPolicyError(
                file: name,
                "empty: a policy that was not read would pin nothing; see "
                    + "docs/pin-policy.md for its form")
        }
        guard [0x7B, 0x5B, 0xEF].contains(first) else {
            self = try OkHttpImport.lines(text)
            return
        }
        let root: LocatedJSON
        do { root = try LocatedJSON.parse(octets) } catch {
            throw text.fault(at: error.offset ?? 0, error.what)
        }
        if root.array != nil {
            self = try OkHttpImport.list(root, text)
        } else if TrustKitImport.isTrustKit(root) {
            self = try TrustKitImport.read(root, text)
        } else {
            self = try NativePolicy.read(root, text)
        }
    }

    init(style: Style, name: String? = nil, pins: PinSet, notes: [String] = []) {
        self.style = style
        self.name = name
        self.pins = pins
        self.notes = notes
    }

    /// Because: a line a pin, 10 000 pins fit; what is larger is another file.
    package static let maximumOctets = 1_048_576
    /// Because: every handshake looks through them, and reading compares each with each.
    package static let maximumPatterns = 2_048
}

/// Why a text is not a pin policy: where, what, and what to do.
public struct PinPolicyError: Error, Sendable, Hashable, CustomStringConvertible {
    public let file: String
    /// Counted from 1; nil for the file as a whole.
    public let line: Int?
    /// Counted from 1, in characters; nil for the file as a whole.
    public let column: Int?
    public let message: String

    package init(
        file: String, line: Int? = nil, column: Int? = nil, _ message: String
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }

    public var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(file)\(place): \(message)"
    }
}
