internal import CHTTPDNSCurl
internal import HTTPDNSExchange
internal import HTTPDNSNames

// The attempts to connect of a transfer, on the engine's thread; see `Dialling`.
extension ActiveTransfer {
    /// Connections are being made, and the request waits for them.
    var isDialling: Bool { !isCleared && !dialling.attempts.isEmpty }

    /// A connection to that address is begun; inside a libcurl call.
    func dials(_ endpoint: Endpoint, on number: Int32) {
        route.connecting = endpoint
        dialling.begins(
            endpoint, on: Dialling.Socket(number: number, inode: httpdns_curl_socket_inode(number)))
        stir.note(self)
    }

    /// libcurl has closed a socket of this transfer's.
    func closedSocket() {
        if !isCleared { stir.note(self) }
    }

    /// After libcurl has worked: has it called again where an attempt came to nothing.
    func goOnDialling(now: Monotonic) {
        dialling.settle(now: now)
        let lost = dialling.open.filter {
            httpdns_curl_socket_inode($0.socket.number) != $0.socket.inode
        }
        guard !lost.isEmpty else { return }
        // Of two families one is left when the other is connected; that is no fault of its address.
        let isMade = dialling.open.contains {
            httpdns_curl_socket_is_made($0.socket.number, $0.socket.inode)
        }
        guard !isMade else { return dialling.forget(lost.map(\.socket)) }
        for attempt in lost { dialling.lost(attempt.socket) }
        // What it says of one that has ended already is of no use.
        _ = nudge()
    }

    /// The moment at which ``giveUpSilent(now:)`` is to be called.
    var diallingDue: Monotonic {
        isDialling ? dialling.due(among: request.route.addresses) : .distantFuture
    }

    /// Ends the attempts that have said nothing for too long: libcurl then takes the next address.
    func giveUpSilent(now: Monotonic) {
        for socket in dialling.overdue(now: now, among: request.route.addresses) {
            if httpdns_curl_socket_give_up(socket.number, socket.inode) {
                dialling.gaveUp(socket)
            } else {
                dialling.made(socket)
            }
        }
    }

    /// The addresses that came to nothing before `remote` was come to, or failed as the last.
    func takePassedOver(but remote: Endpoint?) -> [PassedOver] {
        guard !dialling.attempts.isEmpty else { return [] }
        defer { dialling = Dialling() }
        return dialling.passedOver.filter { $0.address != remote?.address }
    }

    /// The address whose connection failed, by libcurl's word or by the attempts; nil where there was
    /// none, and for a success.
    func failedAt(_ result: Result<TransferFacts, TransportFailure>) -> Endpoint? {
        guard case .failure(let failure) = result else { return nil }
        if let remote { return remote }
        switch failure {
        // One that made no attempt of its own waited for another's.
        case .timedOut where dialling.attempts.isEmpty: return route.connecting
        case .timedOut: return dialling.open.last?.endpoint
        case .cannotConnect: return dialling.attempts.last?.endpoint
        default: return nil
        }
    }
}
