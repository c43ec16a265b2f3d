internal import HTTPDNSExchange
internal import HTTPDNSLookup
internal import HTTPDNSNames
internal import HTTPDNSTransport

/// Makes of a service's response what an observer may see: its body without what the request held
/// that is between the account and the service, and the times it tells.
struct ReplyReport {
    let codec: any HTTPDNSCodec
    let request: HTTPDNSRequest
    let questions: [Question]

    func received(_ collected: CollectedResponse, _ response: HTTPDNSResponse) -> ReceivedReply {
        let fields = collected.head.fields
        let date = fields.first("Date").flatMap { CookieDate.parse($0) }
        let told = [
            ToldTime(date: date, age: fields.first("Age")),
            codec.serviceTime(in: response).map { ToldTime(.serviceTime, $0) },
        ]
        return ReceivedReply(
            RawReply(
                codec.encryptsAnswers && response.isSuccess ? .encryptedBody : .body,
                masked(response.body)),
            times: told.compactMap(\.self))
    }

    /// A service, or what stands before it, may say the whole request back: account, signature, token.
    private func masked(_ body: [UInt8]) -> [UInt8] {
        var masked = body
        for value in sentValues { masked = ReplyReport.replace(value, in: masked) }
        return masked
    }

    /// The longest first: one may be part of another.
    private var sentValues: [[UInt8]] {
        let parts = request.target.split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var texts = parts[0].split(separator: "/").map(String.init).filter {
            // What has no number in it is a word of the protocol: `resolve`.
            $0.utf8.contains { (0x30...0x39).contains($0) }
        }
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            guard let equals = item.firstIndex(of: "=") else { continue }
            texts.append(String(item[item.index(after: equals)...]))
        }
        texts += request.fields.map(\.value)
        let decoded = texts.map {
            String(decoding: PercentEncoding.decoded($0.utf8), as: UTF8.self)
        }
        let all = Set(texts + decoded)
        return all.filter { isPrivate($0) }.map { Array($0.utf8) }
            .sorted { ($0.count, $0.lexical) > ($1.count, $1.lexical) }
    }

    /// Not the names asked for, nor what an answer holds anyhow.
    private func isPrivate(_ text: String) -> Bool {
        guard text.utf8.count >= ReplyReport.fewestOctets,
            !ReplyReport.words.contains(text.lowercased()), (try? IPAddress(text)) == nil
        else { return false }
        return !questions.contains { text.lowercased().contains($0.name.text) }
    }

    private static func replace(_ value: [UInt8], in body: [UInt8]) -> [UInt8] {
        guard body.count >= value.count else { return body }
        var out: [UInt8] = []
        out.reserveCapacity(body.count)
        var place = 0
        while place < body.count {
            if body[place] == value[0], body[place...].starts(with: value) {
                out += mark
                place += value.count
            } else {
                out.append(body[place])
                place += 1
            }
        }
        return out
    }

    /// What stands in the place of what was taken out.
    private static let mark = Array("REDACTED".utf8)
    /// Because: shorter ones are switches (`1`, `4,6`), and found in every number.
    private static let fewestOctets = 4
    /// What the protocols ask for by these words, and say in answers.
    private static let words: Set<String> = [
        "ipv4", "ipv6", "ipv4,ipv6", "4,6", "addrs", "true", "false", "aaaa",
    ]
}

extension [UInt8] {
    /// Any order that is the same each time.
    fileprivate var lexical: String { String(decoding: self, as: UTF8.self) }
}
