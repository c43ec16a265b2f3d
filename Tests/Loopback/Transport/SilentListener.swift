import CHTTPDNSSystem
import Glibc
import HTTPDNSNames
import Testing

/// An address at which connections are neither accepted nor refused: a listener whose queue is full.
final class SilentListener {
    private let listener: Int32
    private var fillers: [Int32] = []

    init(_ address: IPAddress, port: Port) throws {
        listener = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0
        )
        try #require(listener >= 0)
        var place = try SilentListener.place(address, port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
        }
        try #require(code == 0, "cannot bind to \(address) port \(port)")
        try #require(CHTTPDNSSystem.listen(listener, 0) == 0)
        // The queue takes one more than was said; what then comes gets no answer.
        for _ in 0..<4 {
            let filler = socket(
                AF_INET,
                Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
                0)
            try #require(filler >= 0)
            fillers.append(filler)
            _ = withUnsafePointer(to: &place) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(filler, $0, size) }
            }
        }
    }

    deinit {
        for filler in fillers { close(filler) }
        close(listener)
    }

    private static func place(_ address: IPAddress, _ port: Port) throws -> sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.number.bigEndian
        try #require(address.octets.count == 4)
        withUnsafeMutableBytes(of: &place.sin_addr) { $0.copyBytes(from: address.octets) }
        return place
    }
}
