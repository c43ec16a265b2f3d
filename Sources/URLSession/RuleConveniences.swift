public import Foundation
internal import FoundationNetworking
public import HTTPDNSRules

extension StubResponse {
    /// Octets, of a type.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200
    ) -> StubResponse {
        var stub = StubResponse(status: status, body: .octets([UInt8](data)))
        try? stub.fields.set("Content-Type", type)
        return stub
    }

    /// A value as JSON.
    ///
    /// - Throws: what the encoder throws.
    public static func json(
        encoding value: some Encodable, with encoder: JSONEncoder = JSONEncoder(),
        status: Int = 200
    ) throws -> StubResponse {
        data(try encoder.encode(value), type: "application/json", status: status)
    }
}

extension RuleError {
    /// The failure that `URLSession` users know by this code.
    public static func url(_ code: URLError.Code) -> RuleError { .own(URLError(code)) }
}
