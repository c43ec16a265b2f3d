internal import CHTTPDNSSystem
package import HTTPDNSLookup
package import HTTPDNSNames

/// The blocking look-up of the addresses of a name.
package enum SystemLookup {
    /// Called on a thread of ours, which it may block.
    package typealias Call = @Sendable (HostName, IPAddress.Family) -> Outcome

    package enum Outcome: Sendable, Hashable {
        /// In the system's order; empty: the name exists, but has no address of that family.
        case addresses([IPAddress])
        case noSuchName
        case failed(QueryFailure)
    }

    /// The C library's, for the name as it is.
    package static func addresses(of name: HostName, _ family: IPAddress.Family) -> Outcome {
        httpdns_search_list(0)
        return lookUp(name, family)
    }

    /// The C library's, which also tries the name under the search list of resolv.conf.
    package static func searchedAddresses(
        of name: HostName, _ family: IPAddress.Family
    ) -> Outcome {
        httpdns_search_list(1)
        return lookUp(name, family)
    }

    /// Source: getaddrinfo(3), RFC 3493 §6.1.
    private static func lookUp(_ name: HostName, _ family: IPAddress.Family) -> Outcome {
        var hints = addrinfo()
        hints.ai_family = family == .ipv4 ? AF_INET : AF_INET6
        // Without a type each address comes once for streams, once for datagrams, once raw.
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name.text, nil, &hints, &list)
        let systemError = httpdns_errno()
        defer { if let list { freeaddrinfo(list) } }
        switch httpdns_address_lookup_meaning(code) {
        case HTTPDNS_LOOKUP_ANSWERED: return .addresses(addresses(list))
        case HTTPDNS_LOOKUP_NO_NAME: return .noSuchName
        case HTTPDNS_LOOKUP_NO_DATA: return .addresses([])
        case HTTPDNS_LOOKUP_FAILED:
            return .failed(.unreachable(String(cString: gai_strerror(code))))
        case HTTPDNS_LOOKUP_SYSTEM_ERROR:
            return .failed(.unreachable(systemWord(systemError)))
        default:
            return .failed(.unexpected("getaddrinfo says: " + String(cString: gai_strerror(code))))
        }
    }

    private static func systemWord(_ error: Int32) -> String {
        // Because: the longest text in the C locale is well below 128 octets.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress else { return "error \(error)" }
            httpdns_error_text(error, base, buffer.count)
            return String(cString: base)
        }
    }

    private static func addresses(_ list: UnsafeMutablePointer<addrinfo>?) -> [IPAddress] {
        var found: [IPAddress] = []
        var next = list
        while let entry = next?.pointee {
            // A hosts file may name an address twice.
            if let address = address(entry.ai_addr), !found.contains(address) {
                found.append(address)
            }
            next = entry.ai_next
        }
        return found
    }

    private static func address(_ socketAddress: UnsafeMutablePointer<sockaddr>?) -> IPAddress? {
        guard let socketAddress else { return nil }
        let raw = UnsafeRawPointer(socketAddress)
        switch Int32(socketAddress.pointee.sa_family) {
        case AF_INET:
            let ipv4 = raw.loadUnaligned(as: sockaddr_in.self)
            return withUnsafeBytes(of: ipv4.sin_addr) { IPAddress(octets: Array($0)) }
        case AF_INET6:
            let ipv6 = raw.loadUnaligned(as: sockaddr_in6.self)
            let address = withUnsafeBytes(of: ipv6.sin6_addr) { IPAddress(octets: Array($0)) }
            guard ipv6.sin6_scope_id != 0, let address else { return address }
            return try? IPAddress("\(address)%\(ipv6.sin6_scope_id)")
        default:
            return nil
        }
    }
}
