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
        EchoMask(
            hiding: request.privateValues + sentValues.filter { isPrivate($0) },
            sparing: questions.map(\.name)
        ).masked(body)
    }

    /// What went out besides what the codec calls private.
    private var sentValues: [String] {
        let parts = request.target.split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var texts = parts[0].split(separator: "/").map(String.init).filter {
            // What has no number in it is a word of the protocol, or the codec names it.
            $0.utf8.contains { (0x30...0x39).contains($0) }
        }
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            guard let equals = item.firstIndex(of: "=") else { continue }
            texts.append(String(item[item.index(after: equals)...]))
        }
        return texts + request.fields.map(\.value)
    }

    /// Not the names asked for, nor what an answer holds anyhow.
    private func isPrivate(_ text: String) -> Bool {
        let meant = String(decoding: PercentEncoding.decoded(text.utf8), as: UTF8.self).lowercased()
        guard meant.utf8.count >= ReplyReport.fewestOctets, !ReplyReport.words.contains(meant),
            (try? IPAddress(meant)) == nil
        else { return false }
        let pieces = meant.split { ",;|".contains($0) }
        return !pieces.contains { piece in questions.contains { $0.name.text == piece } }
    }

    /// Because: shorter ones are switches (`1`, `4,6`), and found in every number.
    private static let fewestOctets = 4
    /// What the protocols ask for by these words, and say in answers.
    private static let words: Set<String> = [
        "ipv4", "ipv6", "ipv4,ipv6", "4,6", "addrs", "true", "false", "aaaa",
    ]
}
