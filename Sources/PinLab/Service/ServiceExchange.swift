internal import HTTPDNSNames
internal import HTTPDNSWire

/// One question to a service, with all that is needed to answer it. Each form's part stands in a file
/// of its own, in `Vendor/`.
struct ServiceExchange {
    let request: LabRequest
    let settings: LabServiceSettings
    let faults: Set<LabServiceFault>
    /// Where the service itself is.
    let place: (address: IPAddress, port: Port)
    /// How many lists of service addresses were told before.
    let schedulesTold: Int
    /// Seconds since 1970 by the service's clock.
    let now: Int64
    /// Of the query, and of a form in the body; of equal names the last one.
    let parameters: [String: String]
    /// What names stand for, by the faults and for this client.
    private(set) var table: LabTable
    var event = LabServiceEvent()

    init(
        _ request: LabRequest, _ settings: LabServiceSettings, faults: Set<LabServiceFault>,
        place: (address: IPAddress, port: Port), schedulesTold: Int
    ) {
        self.request = request
        self.settings = settings
        self.faults = faults
        self.place = place
        self.schedulesTold = schedulesTold
        var now = settings.time.now.secondsSince1970
        for case .clockWrong(let seconds) in faults { now &+= seconds }
        self.now = now
        let isForm =
            request.value(of: "Content-Type")?.lowercased()
            .hasPrefix("application/x-www-form-urlencoded") ?? false
        let fields = request.queryParameters + (isForm ? request.formParameters : [])
        parameters = Dictionary(fields.map { ($0.name, $0.value) }) { $1 }
        table = settings.table.failing(faults, port: place.port)
            .seen(from: settings.clientAddress)
        event.faults = faults.map(\.name).sorted()
    }

    /// The answer, before the faults of its way.
    mutating func answer(_ form: LabServiceForm?) -> LabResponse {
        event.form = form
        guard let form else {
            event.verdict = "404"
            return .text("no such path\n", status: 404)
        }
        do throws(LabRefusal) {
            for case .refuses(let why) in faults { throw why }
            return try told(form)
        } catch { return refused(error, form) }
    }

    private mutating func told(_ form: LabServiceForm) throws(LabRefusal) -> LabResponse {
        switch form {
        case .aliyun: try aliyun()
        case .aliyunSchedule: try aliyunSchedule()
        case .aliyun2: try aliyun2()
        case .aliDNS: try aliDNS()
        case .tencent: try tencent()
        case .volcengine: try volcengine()
        case .baidu: try baidu()
        case .qiniu: try qiniu()
        case .ucloud: try ucloud()
        case .yunaq: try yunaq()
        case .wangsu: try wangsu()
        case .json: try json()
        case .message: try message()
        }
    }

    private mutating func refused(_ why: LabRefusal, _ form: LabServiceForm) -> LabResponse {
        let text = RefusalText(why, form, now: now, clientAddress: clientText)
        event.verdict = text.code
        let isGoogle = form == .json && why == .wrongMethod && request.method == "HEAD"
        let status = faults.contains(.refusesWithSuccess) ? 200 : isGoogle ? 400 : text.status
        return text.body.isEmpty
            ? .text("", status: status) : .json(text.body, status: status)
    }
}

// What the forms share.
extension ServiceExchange {
    /// What a name stands for in one family.
    struct Found {
        var addresses: [IPAddress] = []
        var ttlSeconds = Found.negativeSeconds
        var extra: String?

        /// Because: a provider's usual TTL for a name without addresses.
        private static let negativeSeconds: UInt32 = 300
    }

    func found(_ name: String, _ type: RecordType) throws(LabRefusal) -> Found {
        guard let host = try? HostName(name) else { throw .wrongName }
        guard let entry = table.entries[host] ?? table.otherwise else { return Found() }
        switch entry.code {
        case .noError: break
        case .noSuchName: return Found()
        case .refused: throw .forbiddenName
        default: throw .broken
        }
        let (addresses, ttl) = table.lookup(name, type) ?? ([], entry.ttlSeconds)
        return Found(addresses: addresses, ttlSeconds: ttl, extra: entry.extra)
    }

    func account(_ identifier: String?) throws(LabRefusal) -> LabAccount {
        guard let found = settings.accounts.first(where: { $0.identifier == identifier }) else {
            throw .unknownAccount
        }
        return found
    }

    /// The value of a parameter that must be there.
    func required(_ name: String) throws(LabRefusal) -> String {
        guard let value = parameters[name], !value.isEmpty else { throw .missingArgument }
        return value
    }

    /// Checks the names of a list and notes them.
    mutating func hear(names: [String], atMost limit: Int) throws(LabRefusal) {
        event.names = names
        guard names.count <= limit else { throw .tooManyNames }
        guard !names.isEmpty, names.allSatisfy({ (try? HostName($0)) != nil }) else {
            throw .wrongName
        }
    }

    /// Notes where the client says it is, and answers for there.
    mutating func hear(client: String?) {
        guard let client, !client.isEmpty else { return }
        event.client = client
        let text = String(client.prefix { $0 != "/" })
        guard let address = try? IPAddress(text) else { return }
        table = settings.table.failing(faults, port: place.port).seen(from: address)
    }

    /// Where the answer is for, as the client said or as the service sees.
    var clientText: String { event.client ?? settings.clientAddress.description }

    /// The names in the order and number that are told.
    func listed(_ names: [String]) -> [String] {
        var names = names
        if names.count > 1, faults.contains(.dropsFromBatch) { names.removeLast() }
        if faults.contains(.reversesBatch) { names.reverse() }
        return faults.contains(.duplicatesBatch) ? names.flatMap { [$0, $0] } : names
    }

    /// A name as an answer writes it.
    func spelled(_ name: String, endsInDot: Bool = false) -> String {
        name + (endsInDot != faults.contains(.togglesDot) ? "." : "")
    }

    /// A TTL as an answer writes it; nil: not at all.
    func ttl(_ seconds: UInt32, inText: Bool = false) -> String? {
        if faults.contains(.leavesOutTTL) { return nil }
        for case .ttl(let kind) in faults {
            switch kind {
            case .zero: return "0"
            case .negative: return "-1"
            case .huge: return "2147483648"
            case .text: return inText ? "\(seconds)s" : JSONText.string("\(seconds)")
            }
        }
        return String(seconds)
    }

    /// Addresses as a JSON array; nil when an empty one is left out.
    func addresses(_ addresses: [IPAddress]) -> String? {
        if addresses.isEmpty, faults.contains(.answersEmptyAs(.absent)) { return nil }
        return JSONText.array(addresses.map { JSONText.string($0.description) })
    }

    /// `text` in hexadecimal digits after encryption, as the faults will have it.
    func sealedHex(_ text: String, _ cipher: LabCipher) throws(LabRefusal) -> String {
        guard let octets = cipher.sealed(Array(text.utf8), cipherFault) else { throw .broken }
        let digits = Hex.encoded(octets)
        return faults.contains(.upperCaseHex) ? digits.uppercased() : digits
    }

    /// `text` in Base64 after encryption, as the faults will have it.
    func sealedBase64(_ text: String, _ cipher: LabCipher) throws(LabRefusal) -> String {
        guard let octets = cipher.sealed(Array(text.utf8), cipherFault) else { throw .broken }
        var rest = Base64.encoded(octets)[...]
        guard faults.contains(.base64Lines) else { return String(rest) }
        var lines: [Substring] = []
        while !rest.isEmpty {
            // Source: RFC 2045 §6.8 bounds a line at 76; shorter, so that short texts break too.
            lines.append(rest.prefix(20))
            rest = rest.dropFirst(20)
        }
        return lines.joined(separator: "\n")
    }

    private var cipherFault: LabCipherFault? {
        for case .cipher(let fault) in faults { return fault }
        return nil
    }
}

extension LabTable {
    /// The table as the faults tell it.
    func failing(_ faults: Set<LabServiceFault>, port: Port) -> LabTable {
        var table = self
        for fault in faults {
            switch fault {
            case .answersEmpty, .answersEmptyAs: table = table.replacing(with: [])
            case .denies: table = LabTable()
            case .lies(let addresses): table = table.replacing(with: addresses)
            case .liesByServer:
                let (high, low) = (UInt8(port.number >> 8), UInt8(port.number & 0xFF))
                table = table.replacing(
                    with: IPAddress(octets: [127, 99, high, low]).map { [$0] } ?? [])
            case .rewritesMissing(let addresses): table.otherwise = Entry(addresses)
            default: break
            }
        }
        return table
    }

    /// Every name of the table with these addresses instead of its own.
    private func replacing(with addresses: [IPAddress]) -> LabTable {
        mapped { Entry(addresses, ttlSeconds: $0.ttlSeconds) }
    }
}
