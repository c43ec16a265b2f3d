import Foundation
import HTTPDNSPinLab

/// The origin of the soak: answers each path by the fault of that name.
enum SoakOrigin {
    static let host = "shop.example.test"
    /// What every upload carries.
    static let upload = Data.pattern(40_000)

    static func answer(_ request: LabRequest) -> LabResponse {
        if request.method == "POST", Data(request.body) != upload {
            return .text("a body of \(request.body.count)", status: 500)
        }
        let name = request.path.split(separator: "/").first.map(String.init) ?? ""
        switch SoakedTask.Fault(rawValue: name) {
        case nil: return .text("what?", status: 500)
        case .small, .large: return body(name)
        case .pieces: return body(name).chunked(octets: 500, delayMilliseconds: 1)
        case .moved: return .redirect(to: "/small", status: 307)
        case .missing: return .text("not there", status: 404)
        case .challenged:
            guard request.value(of: "Authorization") == nil else { return body("small") }
            var answer = LabResponse.text("who?", status: 401)
            answer.fields.append(LabField("WWW-Authenticate", #"Basic realm="soak""#))
            return answer
        case .cut: return body("large").conducting(.closes(afterBodyOctets: 70_000))
        case .reset: return body("large").conducting(.resets(afterBodyOctets: 70_000))
        case .stalled: return body("large").conducting(.stalls(afterBodyOctets: 70_000))
        case .silent: return .never
        case .garbled: return LabResponse().conducting(.writes(Array("HTTP/1.1 what\r\n\r\n".utf8)))
        }
    }

    private static func body(_ name: String) -> LabResponse {
        LabResponse(body: Array(Data.pattern(SoakedTask.Fault(rawValue: name)?.octets ?? 0)))
    }
}

extension Data {
    /// Octets whose pattern shows when a piece is missing or out of place.
    static func pattern(_ count: Int) -> Data {
        // A prime length: no buffer size is a multiple of it.
        let piece = Data((0..<251).map { UInt8($0) })
        var data = Data(capacity: count + piece.count)
        while data.count < count { data.append(piece) }
        return data.prefix(count)
    }
}
