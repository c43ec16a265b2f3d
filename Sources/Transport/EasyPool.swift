internal import HTTPDNSExchange
internal import HTTPDNSNames

/// What libcurl is told once and what holds for every transfer of a handle: most options.
struct TransferKind: Equatable {
    let scheme: Scheme
    let version: HTTPVersion
    let method: HTTPMethod
    let hasBody: Bool
    let offersCodings: Bool

    /// Nil for what is told too much that must not be there the next time: proxies and passwords.
    init?(_ request: TransportRequest) {
        guard request.via == nil, request.authorization == nil, !request.expectsContinue else {
            return nil
        }
        scheme = request.origin.scheme
        version = request.version
        method = request.method
        hasBody = request.body.isThere
        offersCodings = request.acceptEncoding != nil
    }
}

extension RequestBody {
    var isThere: Bool { if case .none = self { false } else { true } }
}

/// What differs from one transfer of a handle to the next, as libcurl was told last.
struct SaidOfTransfer {
    var origin: Origin?
    var target: String?
    /// The number of the route's name.
    var route: UInt64?
    var hasAddresses = false
    var fields: HTTPFields?
    var isFresh: Bool?
    /// Its connection is not kept.
    var isGivenUp = false
    var connectMilliseconds: Int64?
    var isHeard = false
}

/// Handles whose transfer went well, kept with what they were told for transfers of the same kind.
///
/// To make a handle and tell it some fifty things takes longer than a small request. A handle that
/// failed is freed: nobody needs to know what state libcurl left it in.
struct EasyPool {
    /// Handles of one kind. Kinds are few: to compare them takes less than a digest of one.
    private struct Shelf {
        let kind: TransferKind
        var handles: [EasyHandle]
    }

    private var shelves: [Shelf] = []
    private var count = 0

    mutating func take(_ kind: TransferKind) -> EasyHandle? {
        guard let place = shelves.firstIndex(where: { $0.kind == kind }),
            let handle = shelves[place].handles.popLast()
        else { return nil }
        count -= 1
        return handle
    }

    mutating func keep(_ handle: EasyHandle) {
        guard let kind = handle.kind, handle.refusal == nil else { return }
        if count >= EasyPool.mostKept { removeAll() }
        count += 1
        if let place = shelves.firstIndex(where: { $0.kind == kind }) {
            return shelves[place].handles.append(handle)
        }
        if shelves.count >= EasyPool.mostKept { shelves.removeAll { $0.handles.isEmpty } }
        shelves.append(Shelf(kind: kind, handles: [handle]))
    }

    mutating func removeAll() {
        shelves = []
        count = 0
    }

    /// Because: as many as are in flight to one busy host; each holds some 30 KiB.
    private static let mostKept = 64
}
