package import HTTPDNSLookup
package import HTTPDNSNames

/// DNSPod's list of servers: `/conf` beside `/d`, known and encrypted as questions are. No I/O.
///
///     answer = part *( "|" part )
///     part   = "ip:" address *( ";" address ) / "ttl:" minutes / name ":" text
///
/// The free service has no list. Source: the vendor's SDKs for iOS and Android.
package struct DNSPodScheduleCodec: ServerListCodec {
    private let codec: DNSPodCodec

    /// - Throws: ``QueryFailure/misconfigured(_:)``: the service is asked without an account.
    package init(_ codec: DNSPodCodec) throws(QueryFailure) {
        guard codec.token != nil || codec.encryption != nil else {
            throw .misconfigured("the free DNSPod service hands out no list: leave the file out")
        }
        self.codec = codec
    }

    package func request(now: WallTime) throws(QueryFailure) -> HTTPDNSRequest {
        var query = QueryString()
        if let encryption = codec.encryption {
            query.append("id", encryption.id)
            query.append("alg", encryption.name)
        }
        if let token = codec.token { query.append("token", token.revealed) }
        return HTTPDNSRequest(
            target: query.appended(to: path), accept: "text/plain, */*;q=0.1")
    }

    /// The path of questions with another last part.
    private var path: String {
        let question = codec.path.prefix { $0 != "?" }
        let folder = question.lastIndex(of: "/").map { question[...$0] } ?? "/"
        return folder + "conf" + codec.path.dropFirst(question.count)
    }

    package func list(
        in response: HTTPDNSResponse, port: Port
    ) throws(QueryFailure) -> ServiceSchedule.ServiceList {
        let text = try codec.text(of: response)
        guard let addresses = Self.value(of: "ip", in: text) else {
            // The text may hold what was sent: it is not quoted.
            throw response.malformed("the configuration has no ip")
        }
        let words = addresses.split(separator: ";")
        guard words.count <= Self.maximumServers else {
            throw response.malformed("ip has \(words.count) servers")
        }
        var servers: [Endpoint] = []
        for word in words {
            guard let address = try? IPAddress(String(word)), address.zone == nil else {
                throw response.malformed("ip has what is no address")
            }
            servers.append(Endpoint(address: address, port: port))
        }
        let minutes = Self.value(of: "ttl", in: text).flatMap { Int64($0) }
        return ServiceSchedule.ServiceList(
            servers: servers,
            freshSeconds: (minutes.flatMap { Self.minutes.contains($0) ? $0 : nil }
                ?? Self.usualMinutes) * 60)
    }

    private static func value(of name: String, in text: String) -> Substring? {
        text.split(whereSeparator: { $0 == "|" || $0.isNewline }).first {
            $0.hasPrefix(name + ":")
        }?
        .dropFirst(name.count + 1)
    }

    /// How long a list may be good for, and is where it does not say. Source: the vendor's SDKs.
    private static let minutes: ClosedRange<Int64> = 1...1_440
    private static let usualMinutes: Int64 = 60
    /// Because: the service hands out a handful.
    private static let maximumServers = 64
}
