internal import HTTPDNSJSON
internal import HTTPDNSNames
internal import HTTPDNSPlatform

/// Keeps the list of servers and the cursor from one start of the program to the next.
package protocol ServiceCursorStore: Sendable {
    /// Nil when nothing has been saved yet.
    ///
    /// - Throws: ``StoreFault`` for what cannot be read or is damaged.
    func load() throws(StoreFault) -> ServiceSchedule.Stored?

    /// - Throws: ``StoreFault``; what was saved before then stays.
    func save(_ stored: ServiceSchedule.Stored) throws(StoreFault)
}

/// Why a store could not be used.
package struct StoreFault: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
}

/// A file of mode 0600, replaced as a whole.
package struct FileCursorStore: ServiceCursorStore {
    private let path: String

    package init(path: String) { self.path = path }

    package func load() throws(StoreFault) -> ServiceSchedule.Stored? {
        let octets: [UInt8]?
        do throws(FileFault) {
            octets = try ReplacedFile.read(path, maximumOctets: Self.maximumOctets)
        } catch {
            throw StoreFault(description: error.description)
        }
        guard let octets else { return nil }
        guard let value = try? JSONValue.parse(octets), let stored = Self.stored(in: value) else {
            throw StoreFault(description: "\(path) is damaged; it is ignored and written anew")
        }
        return stored
    }

    package func save(_ stored: ServiceSchedule.Stored) throws(StoreFault) {
        let servers = stored.servers.map { server -> JSONValue in
            [
                "address": .string(server.address.description),
                "port": .integer(Int64(server.port.number)),
            ]
        }
        let value: JSONValue = [
            "version": 1, "servers": .array(servers), "cursor": .integer(Int64(stored.cursor)),
            "fetchedAt": .integer(stored.fetchedAt.secondsSince1970),
            "freshSeconds": .integer(stored.freshSeconds),
        ]
        do throws(FileFault) {
            try ReplacedFile.replace(path, with: JSONWriter.octets(value) + [0x0A])
        } catch {
            throw StoreFault(description: error.description)
        }
    }

    private static func stored(in value: JSONValue) -> ServiceSchedule.Stored? {
        guard value["version"]?.integer == 1, let list = value["servers"]?.array,
            let cursor = value["cursor"]?.integer, let place = Int(exactly: cursor),
            let fetchedAt = value["fetchedAt"]?.integer
        else { return nil }
        var servers: [Endpoint] = []
        for entry in list {
            guard let address = entry["address"]?.string.flatMap({ try? IPAddress($0) }),
                let number = entry["port"]?.integer.flatMap({ UInt16(exactly: $0) }),
                let port = Port(number)
            else { return nil }
            servers.append(Endpoint(address: address, port: port))
        }
        guard !servers.isEmpty, servers.indices.contains(place) else { return nil }
        return ServiceSchedule.Stored(
            servers: servers, cursor: place, fetchedAt: WallTime(secondsSince1970: fetchedAt),
            freshSeconds: value["freshSeconds"]?.integer.flatMap {
                (1...ServiceSchedule.freshSeconds * 3).contains($0) ? $0 : nil
            } ?? ServiceSchedule.freshSeconds)
    }

    /// Because: 128 servers take a tenth of it.
    private static let maximumOctets = 65_536
}
