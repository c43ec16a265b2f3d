public import HTTPDNSNames
internal import HTTPDNSPlatform

/// An HTTP-DNS service on a free loopback port: truthful as its table, or failing as told.
///
/// One table answers in every form:
///
/// | Path | Form |
/// | --- | --- |
/// | `/{account}/d?host=`, `/{account}/sign_d?host=&t=&s=` | Aliyun JSON, signature checked |
/// | `/d?dn=&ttl=1&clientip=1&type=` | DNSPod text |
/// | `/resolve?name=&type=` | JSON as Google or AliDNS write it, see ``LabJSONShape`` |
/// | `/dns-query?name=&type=` | JSON as Cloudflare writes it |
/// | `/dns-query?dns=`, POST `/dns-query` | DNS messages. Source: RFC 8484 |
public final class LabHTTPDNSServer: Sendable {
    /// The server below: its address, port and record.
    public let server: LabServer
    private let state: Locked<State>

    /// Takes a free port.
    ///
    /// - Parameters:
    ///   - address: 127.0.0.0/8 or ::1.
    ///   - security: Plain HTTP, or TLS with which identity.
    ///   - table: What it tells.
    ///   - account: Who may ask in Aliyun's form.
    ///   - shape: Whose JSON `/resolve` speaks.
    /// - Throws: ``LabError``.
    public init(
        address: IPAddress = LabAddress.ipv4, security: LabSecurity = .plain, table: LabTable,
        account: LabAccount = LabAccount("100000", secret: "lab-secret"),
        shape: LabJSONShape = .google
    ) throws(LabError) {
        let state = Locked(State(table: table, fault: .none))
        self.state = state
        server = try LabServer(address: address, security: security) { request in
            let (table, fault) = state.withLock { ($0.table, $0.fault) }
            return LabHTTPDNSServer.respond(to: request, fault) { lie, statesTTL in
                ServiceRoutes(
                    table: lie(table), account: account, shape: shape, statesTTL: statesTTL,
                    now: labWallTime())
            }
        }
    }

    /// Begins to answer.
    ///
    /// - Throws: ``LabError`` when no thread can be started.
    public func start() throws(LabError) { try server.start() }

    /// Ends, and returns when the last thread has ended.
    public func stop() { server.stop() }

    /// The port of the service.
    public var port: Port { server.port }

    /// What it has seen until now.
    public var record: LabRecord { server.record }

    /// Fails in this way from now on.
    public func misbehave(_ fault: LabServiceFault) { state.withLock { $0.fault = fault } }

    /// Tells this from now on.
    public func tell(_ table: LabTable) { state.withLock { $0.table = table } }

    private struct State: Sendable {
        var table: LabTable
        var fault: LabServiceFault
    }

    private typealias Routes = ((LabTable) -> LabTable, Bool) -> ServiceRoutes

    private static func respond(
        to request: LabRequest, _ fault: LabServiceFault, _ routes: Routes
    ) -> LabResponse {
        switch fault {
        case .none: return routes({ $0 }, true).answer(request)
        case .leavesOutTTL: return routes({ $0 }, false).answer(request)
        case .answersEmpty: return routes({ $0.replacing(with: []) }, true).answer(request)
        case .lies(let addresses):
            return routes({ $0.replacing(with: addresses) }, true).answer(request)
        case .delays(let milliseconds):
            return routes({ $0 }, true).answer(request).delayed(milliseconds: milliseconds)
        case .truncates:
            let whole = routes({ $0 }, true).answer(request)
            return whole.conducting(.closes(afterBodyOctets: whole.body.count / 2))
        case .answersOtherJSON: return .json("{\"message\":\"hello\",\"items\":[1,2,3]}")
        case .captivePortal:
            return .text(
                "<!DOCTYPE html><title>Log in</title><form action=/login></form>",
                type: "text/html")
        case .redirects(let location): return .redirect(to: location)
        case .status(let status): return LabResponse(status: status)
        case .answersHuge(let octets):
            return LabResponse(
                fields: [LabField("Content-Type", "application/json")],
                body: [UInt8](repeating: 0x20, count: max(0, octets)))
        case .neverAnswers: return .never
        }
    }
}

extension LabTable {
    /// Every name of the table with these addresses instead of its own.
    fileprivate func replacing(with addresses: [IPAddress]) -> LabTable {
        var table = self
        for (name, entry) in entries {
            table.entries[name] = Entry(addresses, ttlSeconds: entry.ttlSeconds)
        }
        return table
    }
}
