internal import HTTPDNSIDNA
internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPinPolicy
internal import HTTPDNSTrust

// Pin configurations of other libraries
extension ConformanceAdapter {
    static let pinOperations: [String: Operation] = [
        "pin.match": { (request) throws(ConformanceRequest.Fault) in
            let host = try request.text("host")
            let matches = try request.texts("patterns").contains {
                RawHostPattern($0).matches(host)
            }
            return ["ok": .bool(matches)]
        },
        "pin.parse": { (request) throws(ConformanceRequest.Fault) in
            let pattern = try request.text("pattern")
            let pin = try request.text("pin")
            do throws(PinPolicyError) {
                try OkHttpImport.check(pattern: pattern, pin: pin)
                return ["ok": true]
            } catch { return ["ok": false, "error": .string("\(error)")] }
        },
        "pin.config": { (request) throws(ConformanceRequest.Fault) in
            do throws(PinPolicyError) {
                _ = try TrustKitImport.read(try configuration(request), named: "config")
                return ["ok": true]
            } catch { return ["ok": false, "error": .string("\(error)")] }
        },
        "pin.lookup": pinLookup,
    ]

    @Sendable private static func pinLookup(
        _ request: ConformanceRequest
    ) throws(ConformanceRequest.Fault) -> JSONObject {
        let text = try request.text("host")
        let octets: [UInt8]
        do throws(PinPolicyError) { octets = try configuration(request) } catch {
            return ["ok": false, "key": nil, "error": .string("\(error)")]
        }
        do throws(PinPolicyError) {
            let pins = try TrustKitImport.read(octets, named: "config").pins
            let host = try? TrustOperations.parsed(.init(kind: "auto", value: text))
            guard let pattern = host.flatMap({ pins.match(for: $0) })?.pattern else {
                return ["ok": true, "key": nil]
            }
            let key = pattern.description
            return [
                "ok": true, "key": .string(key.hasPrefix("**.") ? String(key.dropFirst(3)) : key),
            ]
        } catch { return ["ok": false, "key": nil, "error": .string("\(error)")] }
    }

    private static func configuration(
        _ request: ConformanceRequest
    ) throws(PinPolicyError) -> [UInt8] {
        guard let config = request.value("config") else {
            throw PinPolicyError(file: "config", "is missing")
        }
        return JSONWriter.octets(config)
    }
}

/// OkHttp's way to match a pattern, which takes any text for a host: `.example.com` is one under
/// `*.example.com`. No parsed host is ever such a text. Source: OkHttp 5, `CertificatePinner.Pin`.
private struct RawHostPattern {
    private let stars: Int
    private let suffix: String

    init(_ pattern: String) {
        stars = pattern.hasPrefix("**.") ? 2 : pattern.hasPrefix("*.") ? 1 : 0
        let host = stars == 0 ? pattern : String(pattern.dropFirst(stars + 1))
        suffix = (try? IDNA.toASCII(host)) ?? host.lowercased()
    }

    func matches(_ text: String) -> Bool {
        let host = text.lowercased()
        if stars == 0 || (stars == 2 && host == suffix) { return host == suffix }
        guard host.hasSuffix("." + suffix) else { return false }
        return stars == 2 || !host.dropLast(suffix.utf8.count + 1).contains(".")
    }
}
